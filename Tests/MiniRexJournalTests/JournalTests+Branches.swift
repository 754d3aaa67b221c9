import Foundation
import MiniRex
import MiniRexStore
import TestSupport
import Testing

@testable import MiniRexJournal
@testable import journal_keeper

/// Closed files that another run could want.
extension JournalTests {
  /// Continues the journal, with an action before each of three compactions and one after them.
  @discardableResult
  private func record(_ folder: Folder, keeping history: JournalHistory) async throws -> Ledger {
    let journal = try LedgerJournal(folder, keeping: history)
    let store = Store(try journal.replay(), reducer: keeping)
    let recording = journal.record(store)
    for _ in 1...3 {
      store.send(action(store.state.count + 1))
      try await journal.compact()
    }
    store.send(action(store.state.count + 1))
    try await journal.flush()
    withExtendedLifetime(recording) {}
    return store.state
  }

  private func contents(_ folder: Folder, _ name: String) throws -> [String: Data] {
    var contents: [String: Data] = [:]
    for file in try FileManager.default.contentsOfDirectory(atPath: folder.path(name))
    where file.hasSuffix(".journal") {
      contents[file] = try Data(contentsOf: folder.file("\(name)/\(file)"))
    }
    return contents
  }

  private static let histories: [JournalHistory] = [
    .everything, .last(commits: 1), .last(for: .seconds(1)), .latestState,
  ]

  @Test(arguments: histories)
  func `J19 closed files of a journal that was moved away move to a separate folder`(
    history: JournalHistory
  ) async throws {
    let folder = try Folder()
    let state = try await record(folder, keeping: .everything)
    let closed = try contents(folder, "journal.segments")
    #expect(closed.count == 3)
    try folder.move("journal", to: "moved")

    for _ in 1...2 { try await record(folder, keeping: history) }
    let journal = try LedgerJournal(folder, keeping: history)
    #expect(try journal.replay().count == 8)
    #expect(try contents(folder, "journal.segments/branch-1") == closed)
    #expect(!FileManager.default.fileExists(atPath: folder.path("journal.segments/branch-2")))
    if history == .everything { #expect(try journal.replay(upTo: 0) == Ledger()) }
    try journal.verify()
    let inspecting = try Child("inspect", folder.path("journal"), program: "minirex-journal")
    let last = await inspecting.output.rest().last
    #expect(last?.hasSuffix("another branch: \(folder.path("journal.segments/branch-1"))") == true)

    // The other branch is complete.
    let other = try Folder()
    try FileManager.default.moveItem(at: folder.file("moved"), to: other.journal)
    try FileManager.default.moveItem(
      at: folder.file("journal.segments/branch-1"), to: other.file("journal.segments"))
    #expect(try LedgerJournal(other).replay() == state)
    #expect(try LedgerJournal(other).verify().firstNumber == 0)
  }

  @Test(arguments: histories)
  func `J19 closed files after a restored copy move to a separate folder`(
    history: JournalHistory
  ) async throws {
    let folder = try Folder()
    _ = try folder.record(5)
    try await record(folder, keeping: .everything)
    let copy = try folder.bytes()
    try await record(folder, keeping: .everything)
    let closed = try contents(folder, "journal.segments")
    #expect(closed.count == 6)

    try folder.write(copy, to: "journal")
    for _ in 1...2 { try await record(folder, keeping: history) }
    let kept = try contents(folder, "journal.segments/branch-1")
    #expect(kept == closed.filter { $0.key >= "000004" })
    #expect(try LedgerJournal(folder).replay().count == 17)
    if history == .everything { #expect(try LedgerJournal(folder).verify().firstNumber == 0) }
  }

  @Test func `J19 a new journal does not take the closed file of version 1 of another`()
    async throws
  {
    let folder = try Folder()
    try writeVersionOne(folder)
    try await record(folder, keeping: .everything)
    try folder.move("journal", to: "moved")
    try await record(folder, keeping: .everything)
    #expect(try LedgerJournal(folder).replay(upTo: 0) == Ledger())
    #expect(try LedgerJournal(folder).verify().firstNumber == 0)
    #expect(try contents(folder, "journal.segments/branch-1").keys.contains("000000-0.journal"))
  }

  @Test func `J30 a backup replaces no closed file of another backup`() async throws {
    let (folder, other) = (try Folder(), try Folder())
    try await record(folder, keeping: .everything)
    _ = try other.record(2)
    try await record(other, keeping: .everything)
    let target = folder.file("backup")
    try LedgerReader(other.journal).backup(to: target)
    let closed = try contents(folder, "backup/journal.segments")
    try FileManager.default.removeItem(at: target.appending(path: "journal"))

    #expect(throws: JournalFailure.file(.EEXIST)) {
      try LedgerReader(folder.journal).backup(to: target)
    }
    #expect(try contents(folder, "backup/journal.segments") == closed)

    // An interrupted backup continues: links and beginnings of copies.
    try LedgerReader(other.journal).backup(to: target)
    try FileManager.default.removeItem(at: target.appending(path: "journal"))
    let last = target.appending(path: "journal.segments/000003-4.journal")
    let part = try Data(contentsOf: last).prefix(100)
    try FileManager.default.removeItem(at: last)
    try part.write(to: last)
    try LedgerReader(other.journal).backup(to: target)
    #expect(try contents(folder, "backup/journal.segments") == closed)
  }

  @Test func `J16 compact of a file whose only state is its first line changes nothing`()
    async throws
  {
    let folder = try Folder()
    _ = try folder.record(3)
    let bytes = try folder.bytes()
    let tool = Bundle.main.bundleURL.appending(path: "minirex-journal").path
    func compact() async throws -> [String] {
      let child = try Child([tool, "compact", folder.path("journal")], path: "/usr/bin/env")
      defer { withExtendedLifetime(child) {} }
      return await child.output.rest()
    }
    #expect(try await compact().first?.hasPrefix("Nothing was compacted") == true)
    #expect(try folder.bytes() == bytes && folder.segments == [])
    _ = try folder.record(3, every: 2)
    #expect(try await compact() == [])
    #expect(folder.segments == ["000001-0.journal"])
  }

  #if os(Linux)
  @Test func `J18 closed files on another disk are refused when the journal is opened`() throws {
    let (folder, disk) = (try Folder(), URL(filePath: "/dev/shm/\(UUID().uuidString)"))
    guard
      (try? FileManager.default.createDirectory(at: disk, withIntermediateDirectories: false))
        != nil
    else { try Test.cancel("This system has no second disk.") }
    defer { try? FileManager.default.removeItem(at: disk) }
    let link = folder.file("journal.segments")
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: disk)

    let failure = JournalFailure.otherDisk(folder: link.path)
    #expect(throws: failure) { try LedgerJournal(folder) }
    #expect("\(failure)".contains(link.path) && "\(failure)".contains("latestState"))
    // Without history, no file is closed.
    #expect(try LedgerJournal(folder, keeping: .latestState).replay() == Ledger())
    try FileManager.default.removeItem(at: link)

    // A link to the same disk is no obstacle.
    try folder.make("elsewhere")
    try FileManager.default.createSymbolicLink(
      at: link, withDestinationURL: folder.file("elsewhere"))
    #expect(try LedgerJournal(folder).replay() == Ledger())
  }

  @Test func `J18 a mounted folder of the same disk is refused as well`() async throws {
    #expect(try await sayings("mounted", "") == ["\(JournalFailure.otherDisk(folder: "F"))"])
  }

  @Test func `J18 a folder that moves to another disk later fails the compaction with advice`()
    async throws
  {
    let (folder, disk) = (try Folder(), URL(filePath: "/dev/shm/\(UUID().uuidString)"))
    let journal = try LedgerJournal(folder)
    let store = Store(Ledger(), reducer: keeping)
    let recording = journal.record(store)
    store.send(action(1))
    guard
      (try? FileManager.default.createDirectory(at: disk, withIntermediateDirectories: false))
        != nil
    else { try Test.cancel("This system has no second disk.") }
    defer { try? FileManager.default.removeItem(at: disk) }
    try FileManager.default.createSymbolicLink(
      at: folder.file("journal.segments"), withDestinationURL: disk)
    let failure = JournalFailure.otherDisk(folder: folder.path("journal.segments"))
    await #expect(throws: failure) { try await journal.compact() }
    store.send(action(2))
    try await journal.flush()
    #expect(recording.isSubscribed)
  }
  #endif

  @Test func `S39 a path that a system call cannot take is refused`() throws {
    let folder = try Folder()
    _ = try folder.record(1)
    let base = folder.url.absoluteString
    let urls = ["bad%FFname", "bad%00name", "bad%FF/journal"].map {
      URL(string: base + ($0.hasPrefix("/") ? "" : "/") + $0)
    }
    for url in urls {
      let url = try #require(url)
      #expect(throws: JournalFailure.file(.EINVAL)) { try LedgerJournal(url) }
      #expect(throws: JournalFailure.file(.EINVAL)) { try LedgerReader(url) }
      #expect(throws: JournalFailure.file(.EINVAL)) {
        try LedgerReader(folder.journal).backup(to: url)
      }
      #expect(throws: JournalInspector.Failure.self) { try JournalInspector(url) }
      #expect(throws: JournalFailure.file(.EINVAL)) { try cutJournal(url, from: 200) }
    }
    #expect(folder.names == ["journal"])
    let name = folder.file("100% ä ok")
    _ = try LedgerJournal(name)
    #expect(FileManager.default.fileExists(atPath: name.path))
  }

  @Test func `J28 entries without an interval pause between two looks`() throws {
    let folder = try Folder()
    _ = try folder.record(1)
    let reader = try LedgerReader(folder.journal)
    #expect(reader.entries(after: 0, every: .zero).interval == .milliseconds(1))
    #expect(reader.entries(after: 0, every: .seconds(2)).interval == .seconds(2))
  }
}
