import Foundation
import MiniRexJournal

private struct Summary {
  var name = ""
  var text = ""
  var lines: [String: (count: Int, bytes: Int)] = [:]
  var (runs, longest) = (0, (number: 0, bytes: 0))
  var numbers: (first: Int, last: Int)?
  var seconds: (first: Int, last: Int)?
  var synced = -1
  var versions: Set<String> = []

  mutating func add(_ line: JournalInspector.Line) {
    let (count, bytes) = lines[line.kind] ?? (0, 0)
    lines[line.kind] = (count + 1, bytes + line.byteCount)
    // A `resume` with `synced` vouches for the lines before it, and begins no recording.
    if line.kind == "start" || line.kind == "resume" && line.synced == nil { runs += 1 }
    if line.byteCount > longest.bytes { longest = (line.number, line.byteCount) }
    let first = numbers?.first ?? line.number
    numbers = (first, max(numbers?.last ?? first, line.number))
    if let second = line.second { seconds = (seconds?.first ?? second, second) }
    synced = max(synced, line.synced ?? -1)
    if line.kind != "resume" {
      versions.insert("\(line.kind == "action" ? "action" : "state") \(line.version)")
    }
  }

  func output() {
    print("\(name): \(text)")
    guard let numbers else { return }
    print("  numbers \(numbers.first) to \(numbers.last), durable at least to \(max(synced, 0))")
    if let seconds {
      let dates = [seconds.first, seconds.last].map {
        Date(timeIntervalSince1970: TimeInterval($0)).formatted(.iso8601)
      }
      print("  from \(dates[0]) to \(dates[1])")
    }
    for (kind, size) in lines.sorted(by: { $0.key < $1.key }) {
      print("  \(size.count) \(kind), \(size.bytes) bytes")
    }
    print("  \(runs) recordings, versions: \(versions.sorted().joined(separator: ", "))")
    print("  the longest line has number \(longest.number) and \(longest.bytes) bytes")
  }
}

func inspect(_ file: URL) throws {
  if let kind = remoteKind(of: file) {
    print("warning: \(file.path) is on \(kind). A journal requires a local disk.")
  }
  let inspector = try JournalInspector(file)
  var summary: Summary?
  var closed = (count: 0, bytes: 0)
  try inspector.read(
    { name, file in
      summary?.output()
      summary = nil
      guard let file else { return print("\(name): moved away") }
      var next = Summary()
      next.name = name
      next.text = "version \(file.version), segment \(file.segment), \(file.bytes) bytes"
      summary = next
      closed = (closed.count + 1, closed.bytes + file.bytes)
    }, { summary?.add($0) })
  summary?.output()
  print("\(closed.count) files, \(closed.bytes) bytes, last number \(inspector.lastNumber)")
  if inspector.tornBytes > 0 {
    print(
      "\(inspector.tornBytes) bytes at the end never were a line. The next recording removes them.")
  }
  for path in inspector.others { print("closed file of another journal or branch: \(path)") }
  let folder = file.resolvingSymlinksInPath().path + ".segments"
  let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
  for name in names.sorted() where name.hasPrefix("branch-") {
    print("closed files of another branch: \(folder)/\(name)")
  }
}

func verify(_ file: URL) throws {
  let inspector = try JournalInspector(file)
  var (files, lines, first, last) = (0, 0, Int?.none, 0)
  try inspector.read(
    { name, file in
      if file == nil { print("\(name): moved away") } else { files += 1 }
    },
    { line in
      lines += 1
      first = first ?? line.number
      last = max(last, line.number)
    })
  print(
    "\(lines) lines in \(files) files are as they were written, numbers \(first ?? 0) to \(last).")
  if inspector.tornBytes > 0 { print("\(inspector.tornBytes) bytes at the end never were a line.") }
}

/// Returns the kind of a file system on which a lock or a synchronization may not hold.
private func remoteKind(of file: URL) -> String? {
  let path = file.resolvingSymlinksInPath().path + "/"
  let mounts = (try? String(contentsOfFile: "/proc/self/mounts", encoding: .utf8)) ?? ""
  var found = (place: "", kind: "")
  for line in mounts.split(separator: "\n") {
    let words = line.split(separator: " ")
    if words.count < 3 { continue }
    let place = words[1] == "/" ? "/" : words[1] + "/"
    if path.hasPrefix(place), place.count >= found.place.count {
      found = (String(place), String(words[2]))
    }
  }
  let remote = ["nfs", "cifs", "smb", "fuse"]
  return remote.contains { found.kind.hasPrefix($0) } ? found.kind : nil
}

/// Moves everything from the first damaged line of the newest file on to another file.
func repair(_ file: URL, asks: Bool) throws {
  let name = file.resolvingSymlinksInPath().lastPathComponent
  do throws(JournalInspector.Failure) {
    try JournalInspector(file).read({ _, _ in }, { _ in })
    print("\(name) is not damaged.")
  } catch {
    guard case .damaged(let offset) = error.failure,
      [name, file.lastPathComponent].contains(error.file)
    else { throw error }
    if asks {
      print("Move \(name) from byte \(offset) on to \(name).cut? Later commits are lost. [y/N]")
      guard readLine()?.lowercased() == "y" else { return print("Nothing was changed.") }
    }
    let cut = try cutJournal(file, from: offset)
    print("The bytes from \(offset) on are in \(cut).")
  }
}
