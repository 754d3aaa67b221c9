#if os(Linux)
import Foundation
import TestSupport
import Testing

/// One system call of a journal, as the fault library logged it.
struct SystemCall {
  let kind: Character
  let inode: UInt64
  /// The offset of a write, or the size after a truncation.
  let number: Int
  let bytes: Data

  /// The paths of a call with names.
  var paths: [String] {
    String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
  }
}

/// The library that logs the system calls of `journal-keeper`, and makes one of them fail.
struct FaultLibrary {
  private let path: String

  /// Builds the library with clang, or cancels the test if there is none.
  init(in folder: Folder) async throws {
    let source = URL(filePath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "JournalFaults/faults.c").path
    path = folder.path("faults.so")
    let child = try Child(
      ["clang", "-shared", "-fPIC", "-O1", "-o", path, source], path: "/usr/bin/env")
    if await child.status() != 0 { try Test.cancel("This system has no clang.") }
  }

  /// Runs a script of the keeper in a folder.
  ///
  /// - Parameters:
  ///   - script: The name of the script.
  ///   - fault: The number of the call that fails, its error, and the bytes that it still writes.
  /// - Returns: The lines that it printed.
  func run(
    _ mode: String, script: String = "script", in folder: Folder, log: String? = nil,
    fault: (at: Int, code: Int32?, bytes: Int)? = nil
  ) async throws -> [String] {
    var words = ["LD_PRELOAD=\(path)", "FAULTS_FOLDER=\(folder.url.path)"]
    if let log { words.append("FAULTS_LOG=\(log)") }
    if let fault {
      words += ["FAULTS_AT=\(fault.at)", "FAULTS_BYTES=\(fault.bytes)"]
      if let code = fault.code { words.append("FAULTS_CODE=\(code)") }
    }
    let keeper = Bundle.main.bundleURL.appending(path: "journal-keeper").path
    let child = try Child(
      words + [keeper, script, folder.path("journal"), mode], path: "/usr/bin/env")
    let said = await child.output.rest()
    let status = await child.status()
    let isKilled = status.map { $0 == fault?.code } == true
    #expect(status == 0 || status == 3 || isKilled, "\(fault as Any)")
    return said
  }
}

func systemCalls(in log: URL) throws -> [SystemCall] {
  let data = try Data(contentsOf: log)
  var calls: [SystemCall] = []
  var place = data.startIndex
  func next() -> UInt64 {
    defer { place += 8 }
    return data[place..<(place + 8)].reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }
  while place < data.endIndex {
    let (kind, inode, number, count) = (next(), next(), next(), next())
    calls.append(
      SystemCall(
        kind: Character(UnicodeScalar(UInt8(kind))), inode: inode, number: Int(number),
        bytes: data[place..<(place + Int(count))]))
    place += Int(count)
  }
  return calls
}

/// Returns the number that the script wrote last.
func lastNote(in folder: Folder) -> Int {
  let bytes = (try? Data(contentsOf: folder.file("notes"))) ?? Data()
  return bytes.prefix(8).reversed().reduce(0) { $0 << 8 | Int($1) }
}
#endif
