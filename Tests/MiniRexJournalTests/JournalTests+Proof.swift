import Foundation
import MiniRex
import MiniRexStore
import TestSupport
import Testing

@testable import MiniRexJournal
@testable import journal_keeper

/// Lost bytes that a later byte, a later line, a compaction, or a closed file proves to have been on the disk.
extension JournalTests {
  /// Records 400 actions with a flush after each seventh, and releases the journal.
  private func recordFlushed(_ folder: Folder) async throws -> Ledger {
    let journal = try LedgerJournal(folder)
    let store = Store(Ledger(), reducer: keeping)
    let recording = journal.record(store)
    for number in 1...400 {
      store.send(action(number))
      if number % 7 == 0 { try await journal.flush() }
    }
    try await journal.flush()
    recording.invalidate()
    return store.state
  }

  /// Compacts a file with 75 actions, so that the lines after number 40 are copied.
  private func recordCopied(_ folder: Folder, keeping history: JournalHistory) async throws {
    _ = try folder.record(75, every: 40)
    try await LedgerJournal(folder, keeping: history).compact()
  }

  private func lost(_ bytes: Data, _ range: Range<Int>) -> Data {
    var lost = bytes
    lost.replaceSubrange(range, with: Data(count: range.count))
    return lost
  }

  /// Returns the places at which lines begin, and the length.
  private func places(_ bytes: Data) -> [Int] {
    [0] + bytes.indices.filter { bytes[$0] == UInt8(ascii: "\n") }.map { $0 + 1 }
  }

  private func failure(_ body: () throws -> Void) -> JournalFailure? {
    do {
      try body()
      return nil
    } catch {
      return (error as? JournalInspector.Failure)?.failure ?? error as? JournalFailure
    }
  }

  private func run(_ program: [String]) async throws -> (errors: [String], status: Int32?) {
    let child = try Child(program, path: "/usr/bin/env")
    _ = await child.output.rest()
    return (await child.errors.rest(), await child.status())
  }

  /// Compares the library, a reader, the tool, and the script.
  func expect(
    _ expected: JournalFailure?, _ bytes: Data, in folder: Folder, _ comment: Comment
  ) async throws {
    try folder.write(bytes, to: "journal")
    let path = folder.path("journal")
    #expect(failure { try LedgerJournal(folder).verify() } == expected, comment)
    #expect(
      failure { _ = try LedgerReader(folder.journal).replay(Ledger(), reducer: keeping) }
        == expected, comment)
    #expect(
      failure { try JournalInspector(folder.journal).read({ _, _ in }, { _ in }) } == expected,
      comment)
    let tool = Bundle.main.bundleURL.appending(path: "minirex-journal").path
    let verified = try await run([tool, "verify", path])
    #expect(verified.status == (expected == nil ? 0 : 1), comment)
    #expect(
      verified.errors == (expected.map { ["minirex-journal: journal: \($0)"] } ?? []), comment)
    #expect(try folder.bytes() == bytes, comment)
    let script = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "Scripts/read-journal").path
    guard FileManager.default.isExecutableFile(atPath: "/usr/bin/python3") else { return }
    #expect(try await run([script, path]).errors == (expected.map { ["\($0)"] } ?? []), comment)
  }

  @Test func `J7 a first sector of zeros is damage, and nothing is written`() async throws {
    let folder = try Folder()
    _ = try await recordFlushed(folder)
    let bytes = lost(try folder.bytes(), 0..<512)
    try folder.write(bytes, to: "journal")

    #expect(throws: JournalFailure.damaged(atByte: 0)) { try LedgerJournal(folder) }
    #expect(throws: JournalFailure.damaged(atByte: 0)) {
      try LedgerReader(folder.journal).backup(to: folder.file("copy"))
    }
    #expect(try folder.bytes() == bytes)
  }

  @Test func `J32 the library, a reader, the tool, and the script agree about lost bytes`()
    async throws
  {
    let folder = try Folder()
    _ = try await recordFlushed(folder)
    let bytes = try folder.bytes()
    let places = places(bytes)
    let (first, end) = (places[1], bytes.count)
    let middle = 40 * 512
    let hole = places.last { $0 <= middle } ?? 0
    let damage = { JournalFailure.damaged(atByte: $0) }
    let table: [(Comment, Data, JournalFailure?)] = [
      ("intact", bytes, nil),
      ("first sector", lost(bytes, 0..<512), damage(0)),
      ("all bytes", Data(count: end), nil),
      ("another program's file", Data(count: 512) + Data("text".utf8), damage(0)),
      ("a part of the first line", bytes.prefix(20), nil),
      ("a part of the first line and zeros", bytes.prefix(20) + Data(count: 900), nil),
      ("a part of the first line and text", bytes.prefix(20) + Data("\0text".utf8), damage(0)),
      ("first state", lost(bytes, first..<(first + 600)), damage(first)),
      ("a sector", lost(bytes, middle..<(middle + 512)), damage(hole)),
      (
        "a sector from its second byte on", lost(bytes, (middle + 1)..<(middle + 1_024)),
        damage(
          places.last { $0 <= middle + 1 } ?? 0)
      ),
      // The mark is in it, so nothing vouches for the lines in it.
      ("the last sector", lost(bytes, (end / 512 * 512)..<end), nil),
      ("an empty line at the end", bytes + Data("\n".utf8), nil),
      ("empty lines at the end", bytes + Data("\n\n\n".utf8), nil),
      ("an empty line before text", bytes + Data("\ntext".utf8), damage(end)),
      ("an empty line before a line", bytes + Data("\ntext\n".utf8), damage(end)),
      (
        "an empty line in the middle",
        bytes.prefix(hole) + Data("\n".utf8) + bytes.suffix(from: hole), damage(hole)
      ),
    ]
    for (comment, bytes, expected) in table {
      try await expect(expected, bytes, in: folder, comment)
    }
  }

  @Test func `J7 what a compaction had written is proved by its name`() async throws {
    let folder = try Folder()
    try await recordCopied(folder, keeping: .latestState)
    let bytes = try folder.bytes()
    let places = places(bytes)
    let first = places[1]
    let sector = 3 * 512
    #expect(sector + 512 < places[places.count - 2])
    let damage = { JournalFailure.damaged(atByte: $0) }
    let table: [(Comment, Data, JournalFailure?)] = [
      ("intact", bytes, nil),
      ("all bytes but the first line", bytes.prefix(first), damage(first)),
      ("the end of the first state", bytes.prefix(first + 50), damage(first)),
      ("first state", lost(bytes, first..<1_024), damage(first)),
      (
        "a copied sector", lost(bytes, sector..<(sector + 512)),
        damage(places.last { $0 <= sector } ?? 0)
      ),
    ]
    for (comment, bytes, expected) in table {
      try await expect(expected, bytes, in: folder, comment)
    }
  }

  @Test func `J7 an empty file of zeros beside closed files is damage`() async throws {
    let folder = try Folder()
    try await recordCopied(folder, keeping: .everything)
    for bytes in [Data(count: 2_000), Data(count: 1), try folder.bytes().prefix(10)] {
      try folder.write(bytes, to: "journal")
      #expect(throws: JournalFailure.damaged(atByte: 0)) { try LedgerJournal(folder) }
      #expect(
        failure { try JournalInspector(folder.journal).read({ _, _ in }, { _ in }) }
          == .damaged(atByte: 0))
    }
    #expect(folder.segments == ["000001-0.journal"])
  }

  @Test func `J7 the next file proves the lines of a closed file`() async throws {
    let folder = try Folder()
    let journal = try LedgerJournal(folder, every: 0)
    let store = Store(Ledger(), reducer: keeping)
    let recording = journal.record(store)
    for number in 1...80 {
      store.send(action(number))
      if number % 40 == 0 { try await journal.compact() }
    }
    withExtendedLifetime(recording) {}
    let closed = folder.file("journal.segments/000001-0.journal")
    let bytes = try Data(contentsOf: closed)
    let places = places(bytes)
    let last = bytes.count / 512 * 512 - 512
    let table: [(Comment, Data, Int?)] = [
      ("intact", bytes, nil),
      // A kill in the middle of a later line.
      ("a torn line at the end", bytes + Data(#"{"crc":"0"#.utf8), nil),
      ("all bytes", Data(count: bytes.count), 0),
      ("an empty file", Data(), 0),
      ("first sector", lost(bytes, 0..<512), 0),
      ("the last line", bytes.prefix(places[places.count - 2]), places[places.count - 2]),
      ("a part of the last line", bytes.dropLast(5), places[places.count - 2]),
      ("a sector", lost(bytes, last..<(last + 512)), places.last { $0 <= last }),
    ]
    for (comment, changed, offset) in table {
      try changed.write(to: closed)
      let expected = offset.map { JournalFailure.damaged(atByte: $0) }
      #expect(failure { try journal.verify() } == expected, comment)
      #expect(failure { _ = try journal.replay(upTo: 39) } == expected, comment)
      var found: JournalInspector.Failure?
      do throws(JournalInspector.Failure) {
        try JournalInspector(folder.journal).read({ _, _ in }, { _ in })
      } catch { found = error }
      #expect(found?.failure == expected, comment)
      #expect(found == nil || found?.file == "000001-0.journal", comment)
      let numbers = Shared(0)
      let reading = Task {
        for try await entry in try LedgerReader(folder.journal).entries(after: 0) {
          numbers.value = entry.number
          if entry.number == 80 { break }
        }
      }
      let result = await reading.result
      #expect(failure { try result.get() } == expected, comment)
      // The newest file does not need it.
      #expect(try journal.replay() == store.state, comment)
    }
  }

  @Test func `J8 a released journal writes a line that vouches for the lines before it`()
    async throws
  {
    let folder = try Folder()
    let state = try await recordFlushed(folder)
    #expect(
      try folder.lines().last?.hasSuffix(#","number":400,"synced":400,"resume":true}"#) == true)
    #expect(try LedgerJournal(folder).replay() == state)
    #expect(try LedgerJournal(folder).status.current()?.durableNumber == 400)

    // Without a new synchronization, it is written once.
    let bytes = try folder.bytes()
    _ = try LedgerJournal(folder).replay()
    #expect(try folder.bytes() == bytes)
    _ = try folder.record(0)
    #expect(try folder.lines().last?.contains(#""resume""#) == false)
    try LedgerJournal(folder).verify()

    // A torn mark takes nothing else with it.
    try folder.write(bytes.dropLast(3), to: "journal")
    let journal = try LedgerJournal(folder)
    #expect(try journal.replay() == state)
    #expect(journal.lastNumber == 400 && journal.status.current()?.bytesCutAtOpen ?? 0 > 40)
  }

  @Test func `J8 a flush after the end of a recording writes the line as well`() async throws {
    let folder = try Folder()
    let journal = try LedgerJournal(folder)
    let store = Store(Ledger(), reducer: keeping)
    var recording: Subscription? = journal.record(store)
    store.send(action(1))
    recording = nil
    try await journal.flush()
    #expect(try folder.lines().last?.contains(#""synced":1,"resume":true}"#) == true)
    let before = try folder.bytes()
    try await journal.flush()
    #expect(try folder.bytes() == before)

    // It is not another recording.
    recording = journal.record(store)
    store.send(action(2))
    try await journal.flush()
    let tool = Bundle.main.bundleURL.appending(path: "minirex-journal").path
    let child = try Child([tool, "inspect", folder.path("journal")], path: "/usr/bin/env")
    #expect(await child.output.rest().contains { $0.hasPrefix("  2 recordings") })
    #expect(try journal.replay() == store.state)
    try journal.verify()
    withExtendedLifetime(recording) {}
  }

  @Test func `J8 without a synchronization, nothing vouches for the last lines`() throws {
    let folder = try Folder()
    _ = try folder.record(20)
    #expect(try !folder.lines().contains { $0.contains(#""synced""#) })
  }

  @Test func `J7 a compaction without a recording does not vouch for a hole`() async throws {
    let folder = try Folder()
    _ = try folder.record(40, every: 40)
    try folder.write(lost(try folder.bytes(), 1_024..<1_536), to: "journal")
    #expect(throws: JournalFailure.self) { try LedgerJournal(folder).verify() }
    try await LedgerJournal(folder).compact()
    #expect(folder.segments == ["000001-0.journal"])
    #expect(try LedgerJournal(folder).verify().lastNumber == 40)
  }

  /// Another thread must not retain the journal of a compaction that has returned.
  @Test func `J7 the file is unlocked when a journal is released after compact`() async throws {
    let folder = try Folder()
    _ = try folder.record(40, every: 40)
    for _ in 0..<1_000 { try await LedgerJournal(folder).compact() }
  }
}
