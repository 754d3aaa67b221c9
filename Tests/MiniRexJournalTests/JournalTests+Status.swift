import Foundation
import MiniRex
import MiniRexStore
import TestSupport
import Testing

@testable import MiniRexJournal
@testable import journal_keeper

/// A reducer that reads a random number.
private let guessing: Reducer<Int, Int> = { state, _ in
  state = .random(in: 0 ... .max)
  return .none
}

extension JournalTests {
  @Test func `J31 the status is published after each synchronization and compaction`() async throws
  {
    let folder = try Folder()
    let journal = try LedgerJournal(folder)
    let store = Store(Ledger(), reducer: keeping)
    let seen = Shared<[JournalStatus]>([])
    let watching = journal.status.subscribe { seen.append($0) }
    let recording = journal.record(store)
    store.send(action(1))
    try await journal.flush()
    #expect(seen.value.last?.durableNumber == 1 && seen.value.last?.lastNumber == 1)
    #expect(seen.value.last?.lastSync != nil && seen.value.last?.lastSyncDuration != nil)
    #expect(try seen.value.last?.fileBytes == folder.bytes().count)

    store.send(action(2))
    try await journal.compact()
    let status = try #require(seen.value.last)
    #expect(status.segments == 1 && status.segmentBytes > 0 && status.compaction == .idle)
    #expect(status.firstNumber == 0 && status.durableNumber == 2)
    #expect(try status.fileBytes == folder.bytes().count)
    #expect(try copy(of: folder).status.current()?.segments == 1)
    withExtendedLifetime((watching, recording)) {}
  }

  /// Opens a copy, because the journal has the lock.
  private func copy(of folder: Folder) throws -> LedgerJournal {
    let copy = try Folder()
    try JournalReader<Ledger, LedgerAction>(folder.journal).backup(to: copy.file("copy"))
    return try LedgerJournal(copy.file("copy").appending(path: "journal"))
  }

  @Test func `J31 a failed recording is published in the status`() async throws {
    let folder = try Folder()
    let journal = try LedgerJournal(folder)
    let store = Store(Ledger(), reducer: keeping)
    let recording = journal.record(store)
    store.send(action(1))
    let count = Shared(0)
    let watching = journal.status.subscribe { _ in count.increment() }
    let before = count.value
    try folder.append("{}\n", to: "journal")
    await #expect(throws: JournalFailure.inUse) { try await journal.flush() }
    let status = try #require(journal.status.current())
    #expect(count.value > before && status.lastNumber == 1 && status.durableNumber == -1)
    #expect(journal.problem == .inUse && !recording.isSubscribed)
    withExtendedLifetime(watching) {}
  }

  @Test func `J26 random numbers in three runs without a snapshot are found`() throws {
    let folder = try Folder()
    for _ in 1...3 {
      let journal = try Journal<Int, Int>(folder.journal, snapshotEvery: 0)
      let store = Store(try journal.replay(0, reducer: guessing), reducer: guessing)
      let recording = journal.record(store)
      for _ in 1...300 { store.send(0) }
      withExtendedLifetime(recording) {}
    }
    let journal = try Journal<Int, Int>(folder.journal)
    #expect(throws: JournalFailure.diverged(number: 300)) {
      try journal.verify(0, reducer: guessing)
    }
  }

  @Test func `J14 after a failed synchronization, the next recording begins a new file`()
    async throws
  {
    let folder = try Folder()
    let journal = try LedgerJournal(folder)
    let store = Store(Ledger(), reducer: keeping)
    let recording = journal.record(store)
    store.send(action(1))
    try await journal.flush()
    store.send(action(2))
    // The state after an `fdatasync` that failed.
    journal.file.end.withLock { $0.disk.lost = .file(.EIO) }
    await #expect(throws: JournalFailure.file(.EIO)) { try await journal.flush() }
    #expect(journal.status.current()?.durableNumber == 1 && !recording.isSubscribed)
    store.send(action(3))
    let bytes = try folder.bytes()

    let second = journal.record(store)
    store.send(action(4))
    try await journal.flush()
    let old = try Data(contentsOf: folder.file("journal.segments/000001-0.journal"))
    #expect(old == bytes)
    #expect(try journal.replay() == store.state)
    #expect(journal.status.current()?.durableNumber == journal.lastNumber)
    try journal.verify()
    withExtendedLifetime(second) {}
  }
}
