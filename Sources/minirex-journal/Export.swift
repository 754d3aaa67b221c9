import Foundation
import MiniRexJournal

private func output(_ bytes: some Sequence<UInt8>) {
  var line = Data(bytes)
  line.append(UInt8(ascii: "\n"))
  do {
    try FileHandle.standardOutput.write(contentsOf: line)
  } catch {
    // The reader of a pipe has closed it.
    exit(0)
  }
}

/// Prints the commits without checksums.
func export(_ file: URL, _ from: Int, _ to: Int) throws {
  let inspector = try JournalInspector(file)
  var last = Int.min
  try inspector.read({ _, _ in }) { line in
    guard line.isCommit, line.number >= from, line.number <= to, line.number > last else { return }
    last = line.number
    var text = "{\"number\":\(line.number)"
    if let second = line.second { text += ",\"at\":\(second)" }
    if line.version > 1 { text += ",\"v\":\(line.version)" }
    output(Array((text + ",").utf8) + line.content + [UInt8(ascii: "}")])
  }
}

/// Prints a file that version 1 of the format reads.
///
/// That version has no gaps, so the file begins with the first state after the last gap.
func exportVersionOne(_ file: URL) throws {
  let inspector = try JournalInspector(file)
  let start = try endOfLastGap(inspector)
  var last: Int?
  var hasVersions = false
  output(checked("\"journal\":\"MiniRex\",\"version\":1}".utf8))
  try inspector.read({ _, _ in }) { line in
    guard line.number >= start ?? 0, line.belongsToVersionOne(after: last) else { return }
    if line.version > 1 { hasVersions = true }
    var content = Array(line.content)
    if last == nil, line.kind == "snapshot" {
      content = Array("\"start\"".utf8) + content.dropFirst("\"snapshot\"".utf8.count)
    }
    last = line.number
    output(checked(Array("\"number\":\(line.number),".utf8) + content + [UInt8(ascii: "}")]))
  }
  if let start {
    complain(
      "Commits before number \(start) were not exported, because files after them are missing.")
  }
  if hasVersions {
    complain("Lines of later versions of a type were exported without their version.")
  }
}

/// Returns the number of the first state after the last missing file, or `nil` if no file is missing.
private func endOfLastGap(_ inspector: JournalInspector) throws -> Int? {
  var (last, end): (Int?, Int?)
  try inspector.read({ _, _ in }) { line in
    guard line.belongsToVersionOne(after: nil) else { return }
    if let last, line.number > (line.isCommit ? last + 1 : last) { end = line.number }
    last = max(last ?? 0, line.number)
  }
  return end
}

extension JournalInspector.Line {
  fileprivate func belongsToVersionOne(after last: Int?) -> Bool {
    if isLate || kind == "resume" { return false }
    return last.map { number == (isCommit ? $0 + 1 : $0) } ?? true
  }
}

private func checked(_ body: some Sequence<UInt8>) -> [UInt8] {
  Array("{\"crc\":\"\(JournalInspector.checksum(of: Array(body)))\",".utf8) + body
}

/// Prints the last ten commits, or all after a number, and then further commits.
func tail(_ file: URL, after number: Int?, follows: Bool) async throws {
  let start = try number ?? max(0, JournalInspector(file).lastNumber - 10)
  if !follows { return try export(file, start + 1, .max) }
  let reader = try JournalReader<JournalText, JournalText>(file, upcasting: .keepingVersions)
  for try await entry in reader.entries(after: start) {
    switch entry.content {
    case .action(let action): output("{\"number\":\(entry.number),\"action\":\(action.json)}".utf8)
    case .state(let state): output("{\"number\":\(entry.number),\"state\":\(state.json)}".utf8)
    }
  }
}
