import Foundation
import MiniRex
import MiniRexStore
import TestSupport
import Testing

@testable import MiniRexJournal
@testable import journal_keeper

extension JournalTests {
  /// Records 40 actions in two files, with flushes.
  private func recordFiles(_ folder: Folder) async throws {
    let journal = try LedgerJournal(folder, every: 15)
    let store = Store(Ledger(), reducer: keeping)
    let recording = journal.record(store)
    for number in 1...40 {
      store.send(action(number))
      if number % 7 == 0 { try await journal.flush() }
      if number == 20 { try await journal.compact() }
    }
    withExtendedLifetime(recording) {}
  }

  private func libraryFailure(_ folder: Folder) -> JournalFailure? {
    do throws(JournalFailure) {
      try (try LedgerJournal(folder.journal)).verify()
      return nil
    } catch {
      return error
    }
  }

  private func toolFailure(_ folder: Folder) -> JournalFailure? {
    do throws(JournalInspector.Failure) {
      try JournalInspector(folder.journal).read({ _, _ in }, { _ in })
      return nil
    } catch {
      return error.failure
    }
  }

  private func withoutLine(_ bytes: Data, _ random: inout SeededGenerator) -> Data {
    var lines = bytes.split(separator: UInt8(ascii: "\n"))
    lines.remove(at: Int.random(in: 0..<lines.count, using: &random))
    return Data(lines.joined(separator: [UInt8(ascii: "\n")])) + [UInt8(ascii: "\n")]
  }

  private func run(_ program: String, _ words: [String]) async throws -> (
    lines: [String], errors: [String], status: Int32?
  ) {
    let child = try Child(words, program: program)
    let lines = await child.output.rest()
    return (lines, await child.errors.rest(), await child.status())
  }

  @Test func `J32 the tool finds the damage that the library finds`() async throws {
    let folder = try Folder()
    try await recordFiles(folder)
    #expect(libraryFailure(folder) == nil && toolFailure(folder) == nil)
    let bytes = try folder.bytes()
    var random = SeededGenerator(seed: 5)
    var damaged = 0
    for _ in 0..<max(60, scaled(300)) {
      var changed = bytes
      switch Int.random(in: 0..<4, using: &random) {
      case 0: changed = withoutLine(bytes, &random)
      case 1: changed = withoutLine(bytes, &random) + bytes.suffix(200)
      case 2:
        let place = Int.random(in: 0..<bytes.count, using: &random)
        changed[place] ^= 1 << UInt8.random(in: 0...7, using: &random)
      default:
        let place = Int.random(in: 0..<(bytes.count / 512), using: &random) * 512
        changed.replaceSubrange(place..<(place + 512), with: Data(count: 512))
      }
      try folder.write(changed, to: "journal")
      let (own, tool) = (libraryFailure(folder), toolFailure(folder))
      #expect(own == tool)
      if own != nil { damaged += 1 }
    }
    #expect(damaged > 20)
  }

  @Test func `J32 read-journal finds the byte that the library finds`() async throws {
    let (folder, copy) = (try Folder(), try Folder())
    try await recordFiles(folder)
    let bytes = try folder.bytes()
    let script = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "Scripts/read-journal").path
    func read() async throws -> (lines: [String], error: String?) {
      let child = try Child([script, copy.path("journal")], path: "/usr/bin/env")
      let lines = await child.output.rest()
      return (lines, await child.errors.rest().first)
    }
    guard FileManager.default.isExecutableFile(atPath: "/usr/bin/python3") else {
      try Test.cancel("This system has no Python.")
    }
    var random = SeededGenerator(seed: 9)
    for round in 0..<max(8, scaled(8)) {
      var changed = bytes
      switch round % 4 {
      case 0: changed[Int.random(in: 80..<bytes.count, using: &random)] ^= 1
      case 1:
        let place = Int.random(in: 1..<(bytes.count / 512), using: &random) * 512
        changed.replaceSubrange(place..<(place + 512), with: Data(count: 512))
      case 2: changed = bytes.prefix(Int.random(in: 400..<bytes.count, using: &random))
      default: changed += Data(count: 700)
      }
      try copy.write(changed, to: "journal")
      let failure = libraryFailure(copy)
      let (lines, error) = try await read()
      if let failure {
        #expect(error == "\(failure)", "round \(round)")
      } else {
        #expect(error == nil, "round \(round)")
        let last = try LedgerJournal(copy).lastNumber
        #expect(lines.last.map { $0.hasPrefix("\(last) ") } ?? (last == 20))
      }
      try FileManager.default.removeItem(at: copy.journal)
    }
  }

  @Test func `J32 the tool prints, exports, compacts, and copies a journal`() async throws {
    let folder = try Folder()
    try await recordFiles(folder)
    let path = folder.path("journal")
    let verified = try await run("minirex-journal", ["verify", path])
    #expect(verified.status == 0, "\(verified)")
    #expect(
      verified.lines.first?.hasSuffix("in 2 files are as they were written, numbers 0 to 40.")
        == true)
    let inspected = try await run("minirex-journal", ["inspect", path])
    #expect(inspected.status == 0 && inspected.lines.contains { $0.hasPrefix("2 files, ") })

    let exported = try await run("minirex-journal", ["export", path, "--from", "3", "--to", "39"])
    #expect(exported.lines.count == 37)
    #expect(exported.lines.first == #"{"number":3,"action":{"pay":{"_0":"account 3","_1":-497}}}"#)
    let tail = try await run("minirex-journal", ["tail", path, "--after", "38"])
    #expect(tail.lines.count == 2)

    let old = try await run("minirex-journal", ["export", path, "--version", "1"])
    let former = try Folder()
    try former.write(old.lines.joined(separator: "\n") + "\n", to: "journal")
    let state = try LedgerJournal(folder).replay()
    #expect(try LedgerJournal(former).replay() == state)
    #expect(try former.lines()[0].contains(#""version":1}"#))
    for number in [0, 19, 20, 21, 40] {
      #expect(try LedgerJournal(former).replay(upTo: number).count == number)
    }

    #expect(try await run("minirex-journal", ["backup", path, folder.path("copy")]).status == 0)
    #expect(try await run("minirex-journal", ["compact", path, "--keep", "latest"]).status == 0)
    #expect(try folder.lines()[1].contains(#""snapshot""#))
    #expect(try LedgerJournal(folder).replay() == state)
    #expect(try LedgerJournal(folder.file("copy/journal")).verify().lastNumber == 40)
    #expect(try await run("minirex-journal", ["verify", folder.path("none")]).status == 1)
    #expect(try await run("minirex-journal", ["polish", path]).status == 64)
    #expect(!folder.names.contains("none"))
  }

  @Test func `J32 J28 files that a policy has deleted after a file of version 1 are a gap`()
    async throws
  {
    let folder = try Folder()
    try writeVersionOne(folder)
    let journal = try LedgerJournal(folder, keeping: .latestState)
    let store = Store(try journal.replay(), reducer: keeping)
    let recording = journal.record(store)
    for number in 6...9 {
      store.send(action(number))
      try await journal.compact()
    }
    store.send(action(10))
    try await journal.flush()

    let old = try await run(
      "minirex-journal", ["export", folder.path("journal"), "--version", "1"])
    let former = try Folder()
    try former.write(old.lines.joined(separator: "\n") + "\n", to: "journal")
    #expect(try LedgerJournal(former).verify().lastNumber == 10)
    #expect(try LedgerJournal(former).replay() == store.state)
    #expect(old.errors.contains { $0.contains("before number 9") })

    let reader = try LedgerReader(folder.journal)
    await #expect(throws: JournalFailure.notKept(first: 9)) {
      for try await _ in reader.entries(after: 0) {}
    }
    withExtendedLifetime(recording) {}
  }

  @Test func `J32 repair moves the damaged end to another file`() async throws {
    let folder = try Folder()
    _ = try folder.record(9)
    var bytes = try folder.bytes()
    let offset = try folder.lines()[..<7].reduce(0) { $0 + $1.utf8.count + 1 }
    bytes[offset + 30] ^= 1
    try folder.write(bytes, to: "journal")
    let failed = try await run("minirex-journal", ["verify", folder.path("journal")])
    #expect(failed.status == 1)
    #expect(
      failed.errors == [
        "minirex-journal: journal: The line at byte \(offset) of the journal is damaged."
      ])
    let repaired = try await run("minirex-journal", ["repair", folder.path("journal"), "--yes"])
    #expect(repaired.status == 0, "\(repaired)")
    let cut = try Data(contentsOf: folder.file("journal.cut"))
    #expect(try folder.bytes() + cut == bytes)
    #expect(try LedgerJournal(folder).verify().lastNumber == 5)
  }
}
