import Foundation
import MiniRex
import MiniRexJournal
import MiniRexStore
import TestSupport
import Testing

@testable import journal_keeper

/// Sends that return when their commit is on the disk, rules F28 to F31.
extension JournalTests {
  @Test func `F28 a durable send returns when its chain is durable`() async throws {
    let folder = try Folder()
    let journal = try LedgerJournal(folder.journal, sync: .onFlush)
    let store = Store(Ledger(), reducer: keeping)
    let recording = journal.record(store)

    let receipt = try await store.send(.down(3), in: journal) { $0.count }
    #expect(receipt.value == 4 && receipt.number == 4)
    #expect(journal.lastNumber == 4 && journal.syncCount == 1)
    let task = try await store.send(.halve, in: journal)
    #expect(task.number == 5 && journal.syncCount == 2)
    // It is already durable.
    try await journal.flush(through: receipt.task)
    #expect(journal.syncCount == 2)
    #expect(try folder.lines().last?.contains(",\"number\":5,") == true)
    withExtendedLifetime(recording) {}
  }

  @Test func `F28 another thread may write the line of a durable send`() async throws {
    try await withHeldDelivery { store, journal, mayLeave in
      let hasReturned = Shared(false)
      let sending = Task {
        let receipt = try await store.send(.halve, in: journal) { $0.count }
        hasReturned.value = true
        return receipt
      }
      await until { store.state.count == 2 }
      #expect(!hasReturned.value && journal.lastNumber == 0)
      mayLeave.open()
      let receipt = try await sending.finished()

      #expect(receipt.value == 2 && journal.lastNumber == 2)
    }
  }

  @Test func `F29 concurrent durable sends share syncs`() async throws {
    // The sends wait together. On a busy machine, many syncs may begin before all lines are written.
    let fewest = Shared(Int.max)
    for _ in 0..<20 where fewest.value > 8 {
      try await withHeldDelivery { store, journal, mayLeave in
        let before = journal.syncCount
        let values = try await withThrowingTaskGroup { group in
          for _ in 0..<64 {
            group.addTask { try await store.send(.halve, in: journal) { $0.count }.value }
          }
          await until { store.state.count == 65 }
          mayLeave.open()
          return try await group.reduce(into: []) { $0.append($1) }
        }

        #expect(values.sorted() == Array(2...65))
        #expect(journal.lastNumber == 65)
        fewest.value = min(fewest.value, journal.syncCount - before)
      }
    }
    #expect(fewest.value <= 8)
  }

  @Test func `F30 without a recording of this store, it throws before the send`() async throws {
    let folder = try Folder()
    let journal = try LedgerJournal(folder.journal, sync: .onFlush)
    let store = Store(Ledger(), reducer: keeping)
    let other = Store(Ledger(), reducer: keeping)
    await #expect(throws: JournalFailure.notRecording) {
      try await store.send(.halve, in: journal)
    }
    let recording = journal.record(store)
    await #expect(throws: JournalFailure.notRecording) {
      _ = try await other.send(.halve, in: journal) { $0.count }
    }
    try await store.send(.halve, in: journal)
    recording.invalidate()
    await #expect(throws: JournalFailure.notRecording) {
      try await store.send(.halve, in: journal)
    }

    #expect(store.state.count == 1 && other.state.count == 0)
  }

  @Test func `F30 a failed write throws after the commit, and before the next send`() async throws {
    let folder = try Folder()
    let journal = try Journal<Int, Stubborn>(folder.journal)
    let store = Store(0) { (state: inout Int, action: Stubborn) -> Effect<Stubborn> in
      state += action.amount
      return .none
    }
    let recording = journal.record(store)
    try await store.send(Stubborn(amount: 1), in: journal)

    let failure = await #expect(throws: JournalFailure.self) {
      try await store.send(Stubborn(amount: -1), in: journal)
    }
    #expect(store.state == 0)
    let next = await #expect(throws: JournalFailure.self) {
      try await store.send(Stubborn(amount: 2), in: journal)
    }
    #expect(store.state == 0)
    #expect(failure == next && failure == journal.problem)
    withExtendedLifetime(recording) {}
  }

  @Test func `F30 a failed sync throws after the commit`() async throws {
    let said = try await sayings("undurable", "")
    let failure = "\(JournalFailure.file(.EIO))"
    #expect(said == [failure, "1 sent", failure, "1 sent"])
  }

  @Test func `F31 cancellation does not abandon a durable send`() async throws {
    let folder = try Folder()
    let journal = try LedgerJournal(folder.journal, sync: .onFlush)
    let store = Store(Ledger(), reducer: keeping)
    let recording = journal.record(store)

    let sending = Task {
      unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
      return try await store.send(.halve, in: journal) { $0.count }
    }
    let receipt = try await sending.finished()

    #expect(sending.isCancelled && receipt.value == 1)
    #expect(journal.syncCount == 1)
    withExtendedLifetime(recording) {}
  }

  @Test func `F26 a scope passes its root's journal`() async throws {
    struct Room: Codable, Equatable, Sendable { var lamps = 0 }
    struct House: Codable, Equatable, Sendable {
      var hall = Room()
      var guest: Room? = Room()
    }
    enum Action: Codable, Sendable {
      case light
      case guest
      case leave
    }
    let folder = try Folder()
    let journal = try Journal<House, Action>(folder.journal, sync: .onFlush)
    let store = Store(House()) { (state: inout House, action: Action) -> Effect<Action> in
      switch action {
      case .light: state.hall.lamps += 1
      case .guest: state.guest?.lamps += 1
      case .leave: state.guest = nil
      }
      return .none
    }
    let recording = journal.record(store)
    let hall: Store<Room, Bool> = store.scope(\.hall) { _ in .light }
    let guest: Store<Room, Bool>? = store.scope(ifPresent: \.guest) { _ in .guest }

    #expect(try await hall.send(true, in: journal) { $0.lamps }.value == 1)
    #expect(try await guest?.send(true, in: journal) { $0.lamps }.number == 2)
    try await store.send(.leave, in: journal)
    let late = try await guest?.send(true, in: journal) { $0.lamps }

    #expect(late?.value == 1 && late?.number == nil)
    #expect(journal.lastNumber == 3 && journal.syncCount == 3)
    withExtendedLifetime(recording) {}
  }
}
