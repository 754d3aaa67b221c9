import Foundation
import MiniRex
import MiniRexJournal
import MiniRexStore
import TestSupport
import Testing

@testable import journal_keeper

extension JournalTests {
  @Test func `S39 a file that cannot be opened throws the code of the system`() throws {
    let folder = try Folder()
    _ = try folder.write("text", to: "file")
    func failure(_ path: String) -> JournalFailure? {
      do throws(JournalFailure) {
        _ = try LedgerJournal(URL(filePath: path))
        return nil
      } catch {
        return error
      }
    }

    #expect(failure(folder.path("file/journal")) == .file(.ENOTDIR))
    #expect(failure(folder.path("none/journal")) == .file(.ENOENT))
    #expect(failure(folder.url.path) == .file(.EISDIR))
    #expect(failure("/dev/null") == .file(.EINVAL))
    let page = try #require(URL(string: "https://localhost/journal"))
    #expect(throws: JournalFailure.file(.EINVAL)) { try LedgerJournal(page) }
  }

  @Test func `S39 a second journal of a file throws inUse until the first is released`() throws {
    let folder = try Folder()
    var journal: LedgerJournal? = try LedgerJournal(folder)
    #expect(throws: JournalFailure.inUse) { try LedgerJournal(folder) }

    let store = Store(Ledger(), reducer: keeping)
    let recording = journal?.record(store)
    journal = nil
    store.send(.halve)
    #expect(throws: JournalFailure.inUse) { try LedgerJournal(folder) }

    recording?.invalidate()
    #expect(try LedgerJournal(folder).replay() == store.state)
  }

  enum Intrusion: CaseIterable {
    case removed, renamed, replaced, truncated, extended
  }

  /// Changes the file like a program that takes no lock.
  private func intrude(_ intrusion: Intrusion, in folder: Folder) throws {
    switch intrusion {
    case .removed: try FileManager.default.removeItem(at: folder.journal)
    case .renamed: try folder.move("journal", to: "old")
    case .replaced:
      try folder.write(folder.bytes(), to: "other")
      unsafe rename(folder.path("other"), folder.path("journal"))
    case .truncated:
      let size = try folder.bytes().count
      unsafe truncate(folder.path("journal"), off_t(size / 2))
    case .extended: try folder.append("{}\n", to: "journal")
    }
  }

  @Test(arguments: Intrusion.allCases, [JournalSyncPolicy.onFlush, .everyCommit])
  func `S39 flush fails after another program changed the file`(
    intrusion: Intrusion, policy: JournalSyncPolicy
  ) async throws {
    let folder = try Folder()
    let journal = try LedgerJournal(folder.journal, sync: policy)
    let store = Store(Ledger(), reducer: keeping)
    let recording = journal.record(store)
    store.send(action(1))
    try await journal.flush()

    try intrude(intrusion, in: folder)
    store.send(action(2))

    let isGone = intrusion == .removed || intrusion == .renamed
    let failure = isGone ? JournalFailure.file(.ENOENT) : .inUse
    await #expect(throws: failure) { try await journal.flush() }
    #expect(journal.problem == failure)
    #expect(!recording.isSubscribed)
    store.send(action(3))
    await #expect(throws: failure) { try await journal.flush() }
    let second = journal.record(store)
    await #expect(throws: failure) { try await journal.flush() }
    #expect(!second.isSubscribed && store.state.count == 3)
  }

  @Test func `S39 flush notices a removed file without a new line`() async throws {
    let folder = try Folder()
    let journal = try LedgerJournal(folder)
    let store = Store(Ledger(), reducer: keeping)
    let recording = journal.record(store)
    store.send(action(1))
    try await journal.flush()
    try await journal.flush()

    try intrude(.removed, in: folder)

    await #expect(throws: JournalFailure.file(.ENOENT)) { try await journal.flush() }
    withExtendedLifetime(recording) {}
  }

  @Test func `S39 a hard link and another working directory do not disturb a recording`()
    async throws
  {
    let folder = try Folder()
    let child = try Child("wander", folder.url.path, program: "journal-keeper")
    #expect(await child.output.rest() == ["no failure", "1 sent, 1 written, true", "1 replayed"])
    try FileManager.default.linkItem(at: folder.journal, to: folder.file("link"))
    #expect(try LedgerJournal(folder.file("link")).replay().count == 1)
  }

  @Test func `S39 a second process is refused until the first has been killed`() async throws {
    let folder = try Folder()
    let first = try Child("hold", folder.path("journal"), program: "journal-keeper")
    #expect(await first.output.until("held") == ["held"])

    #expect(throws: JournalFailure.inUse) { try LedgerJournal(folder) }
    let second = try Child("hold", folder.path("journal"), program: "journal-keeper")
    #expect(await second.output.rest() == ["\(JournalFailure.inUse)"])
    #expect(await second.status() == 3)

    first.send(SIGKILL)
    #expect(await first.status() == -SIGKILL)
    #expect(try LedgerJournal(folder).lastNumber == 0)
  }

  @Test(arguments: [60, 300, 5_000, 20_001])
  func `S39 a full disk ends the recording and keeps its complete lines`(bytes: Int)
    async throws
  {
    let folder = try Folder()
    let child = try Child("fill", folder.path("journal"), "\(bytes)", program: "journal-keeper")
    let said = await child.output.rest()
    #expect(await child.status() == 0)

    let failure = "\(JournalFailure.file(.EFBIG))"
    let journal = try LedgerJournal(folder)
    let number = journal.lastNumber - 1
    let counts = ["10000 sent, \(number) written, false", "\(number) replayed"]
    #expect(said == [failure, failure] + counts + ["true, true"])
    if number > 0 {
      let state = (1..<number).reduce(into: Ledger()) { _ = keeping(&$0, action($1)) }
      #expect(try journal.replay(upTo: number - 1) == state)
    }

    // The second recording began with the state from memory.
    #expect(try journal.replay().count == 10_001)
    try journal.verify()
  }
}
