import Foundation
import MiniRex
import MiniRexJournal
import MiniRexStore
import TestSupport
import Testing

@testable import journal_keeper

extension JournalTests {
  /// Blocks the thread that delivers the first commit, until `mayLeave` is open.
  private func hold(_ store: Store<Ledger, LedgerAction>, _ isInside: Gate, _ mayLeave: Gate)
    -> Subscription
  {
    store.events.first().subscribe { _ in
      isInside.open()
      mayLeave.wait()
    }
  }

  /// Calls the closure while another thread delivers the first commit.
  ///
  /// The journal has no line for it until the gate is open.
  func withHeldDelivery(
    _ body: (Store<Ledger, LedgerAction>, LedgerJournal, _ mayLeave: Gate) async throws -> Void
  ) async throws {
    let folder = try Folder()
    let journal = try LedgerJournal(folder.journal, sync: .onFlush)
    let store = Store(Ledger(), reducer: keeping)
    let (isInside, mayLeave) = (Gate(), Gate())
    let holding = hold(store, isInside, mayLeave)
    let recording = journal.record(store)
    try await journal.flush()
    let delivering = Task.detached { await onQueue { store.send(.halve) } }
    await onQueue { isInside.wait() }
    try await body(store, journal, mayLeave)
    await delivering.finished()
    withExtendedLifetime((holding, recording)) {}
  }

  @Test func `J10 concurrent flushes share one synchronization`() async throws {
    try await withHeldDelivery { store, journal, mayLeave in
      let before = journal.syncCount
      try await withThrowingTaskGroup { group in
        for _ in 0..<100 {
          group.addTask {
            store.send(.halve)
            try await journal.flush()
          }
        }
        await until { store.state.count == 101 }
        mayLeave.open()
        try await group.waitForAll()
      }

      #expect(journal.lastNumber == 101)
      // A task that runs late flushes after the shared synchronization.
      #expect(journal.syncCount - before < 50)
    }
  }

  @Test func `J11 flush through a commit returns when that commit is durable`() async throws {
    let folder = try Folder()
    let journal = try LedgerJournal(folder.journal, sync: .onFlush)
    let store = Store(Ledger(), reducer: keeping)
    let recording = journal.record(store)
    store.send(.halve)
    store.send(.halve)

    try await journal.flush(through: nil)
    #expect(journal.syncCount == 0)
    try await journal.flush(through: 1)
    #expect(journal.syncCount == 1)
    store.send(.halve)
    try await journal.flush(through: 2)
    try await journal.flush(through: 0)
    #expect(journal.syncCount == 1)
    try await journal.flush(through: 3)
    #expect(journal.syncCount == 2)

    // The commit does not exist yet.
    let early = Task { try await journal.flush(through: 4) }
    store.send(.halve)
    try await early.finished()
    #expect(journal.syncCount == 3)
    withExtendedLifetime(recording) {}
  }

  @Test func `J11 flush through a commit after the end of the recording throws`() async throws {
    let folder = try Folder()
    let journal = try LedgerJournal(folder.journal, sync: .onFlush)
    let store = Store(Ledger(), reducer: keeping)
    await #expect(throws: JournalFailure.notRecording) { try await journal.flush(through: 1) }
    let recording = journal.record(store)
    store.send(.halve)
    let late = Task { try await journal.flush(through: 2) }
    recording.invalidate()
    store.send(.halve)

    await #expect(throws: JournalFailure.notRecording) { try await late.finished() }
    try await journal.flush(through: 1)
    #expect(journal.syncCount == 1)
  }

  @Test func `J12 everyCommit synchronizes all queued commits together`() async throws {
    let folder = try Folder()
    let journal = try LedgerJournal(folder.journal, sync: .everyCommit)
    let store = Store(Ledger(), reducer: keeping)
    let (isInside, mayLeave) = (Gate(), Gate())
    let holding = hold(store, isInside, mayLeave)
    let recording = journal.record(store)
    let seen = Shared<[Int]>([])
    let watching = store.events.subscribe { _ in seen.append(journal.lastNumber) }
    let delivering = Task.detached { await onQueue { store.send(.down(2)) } }
    await onQueue { isInside.wait() }
    for number in 1...10 { store.send(action(number)) }
    let before = journal.syncCount

    mayLeave.open()
    await delivering.finished()

    #expect(journal.syncCount == before + 1)
    #expect(seen.value == Array(repeating: 13, count: 13))
    #expect(try journal.replay() == store.state)
    try journal.verify()
    try await journal.flush(through: 13)
    #expect(journal.syncCount == before + 1)
    withExtendedLifetime((holding, recording, watching)) {}
  }

  @Test func `J13 a synchronization begins after the duration, and none while idle`() async throws {
    let folder = try Folder()
    let journal = try LedgerJournal(folder.journal, sync: .every(.milliseconds(20)))
    let store = Store(Ledger(), reducer: keeping)
    let recording = journal.record(store)
    await until { journal.syncCount == 1 }

    for _ in 1...3 { store.send(.halve) }
    await until { journal.syncCount >= 2 }
    try await journal.flush(through: 3)
    let count = journal.syncCount
    try await Task.sleep(for: .milliseconds(100))

    #expect(journal.syncCount == count)
    withExtendedLifetime(recording) {}
  }

  @Test func `J13 a released journal can be opened again while its last lines are synchronized`()
    async throws
  {
    let folder = try Folder()
    for round in 1...scaled(50) {
      let journal = try LedgerJournal(folder.journal, sync: .every(.microseconds(200)))
      let store = Store(try journal.replay(), reducer: keeping)
      let recording = journal.record(store)
      store.send(action(round))
      withExtendedLifetime(recording) {}
    }
    #expect(try LedgerJournal(folder).lastNumber == scaled(50))
  }

  @Test func `J13 a negative duration traps with advice`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = try LedgerJournal(try Folder().journal, sync: .every(.seconds(-1)))
    }
    #expect(advice(result).contains("a duration of 0 or more"))
  }
}
