import Foundation
import MiniRex
import MiniRexStore
import TestSupport
import Testing

@testable import MiniRexJournal
@testable import journal_keeper

private let isEncoding = Gate()
private let mayEncode = Gate()
private let isFirst = Shared(true)

/// A state whose first encoding waits for the test.
private struct Slow: Codable, Sendable, Equatable {
  var count = 0

  func encode(to encoder: any Encoder) throws {
    if count == 0, isFirst.value {
      isFirst.value = false
      isEncoding.open()
      mayEncode.wait()
    }
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(count, forKey: .count)
  }
}

private let counting: Reducer<Slow, Int> = { state, action in
  state.count += action
  return .none
}

/// Compactions beside sends, other compactions, and recordings that begin and end.
extension JournalTests {
  private static let choices: [(JournalHistory, JournalSyncPolicy)] = [
    (.everything, .everyCommit), (.everything, .every(.milliseconds(1))),
    (.latestState, .everyCommit), (.latestState, .every(.milliseconds(1))),
    (.latestState, .onFlush), (.last(commits: 20), .onFlush),
    (.last(commits: 20), .every(.milliseconds(1))),
  ]

  @Test(arguments: choices)
  func `J17 compact includes each commit before the call, while others send and compact`(
    history: JournalHistory, policy: JournalSyncPolicy
  ) async throws {
    let folder = try Folder()
    let journal = try LedgerJournal(folder, every: 10, keeping: history, sync: policy)
    let store = Store(Ledger(), reducer: keeping)
    let recording = journal.record(store)
    let rounds = max(3, scaled(20))
    try await withThrowingTaskGroup(of: Void.self) { group in
      for thread in 0..<2 {
        group.addTask {
          await onQueue {
            for number in 1...(10 * rounds) { store.send(.thread(thread, number)) }
          }
        }
      }
      for _ in 0..<3 {
        group.addTask {
          for _ in 0..<rounds {
            let number = store.count
            try await journal.compact()
            #expect(journal.file.extent.header.first >= number)
          }
        }
      }
      try await group.waitForAll()
    }
    try await journal.flush()
    #expect(store.gaps == 0 && journal.lastNumber == store.count)
    #expect(try journal.replay() == store.state)
    #expect(try journal.verify().lastNumber == store.count)
    withExtendedLifetime(recording) {}
  }

  @Test func `J16 compact succeeds while recordings begin and end`() async throws {
    let folder = try Folder()
    let journal = try LedgerJournal(folder, every: 10)
    let isOver = Shared(false)
    let compacting = Task.detached {
      while !isOver.value {
        try await journal.compact()
        // A compaction without a new commit does not suspend.
        try await Task.sleep(for: .microseconds(50))
      }
    }
    var state = Ledger()
    for _ in 0..<max(5, scaled(100)) {
      let store = Store(state, reducer: keeping)
      let recording = journal.record(store)
      for _ in 1...3 { store.send(action(store.count + 1)) }
      // Usually long enough for a compaction to begin.
      if Bool.random() { try await Task.sleep(for: .microseconds(500)) }
      recording.invalidate()
      state = store.state
    }
    isOver.value = true
    try await compacting.value
    #expect(try journal.replay() == state)
    #expect(try journal.verify().lastNumber == state.count)
  }

  @Test func `J16 compact waits for the first line of a recording that begins`() async throws {
    let folder = try Folder()
    do {
      let journal = try Journal<Slow, Int>(folder.journal)
      let store = Store(Slow(count: 1), reducer: counting)
      let recording = journal.record(store)
      store.send(1)
      withExtendedLifetime(recording) {}
    }
    let journal = try Journal<Slow, Int>(folder.journal)
    let store = Store(Slow(), reducer: counting)
    let recording = Shared<Subscription?>(nil)
    async let beginning: Void = onQueue { recording.value = journal.record(store) }
    await onQueue { isEncoding.wait() }
    let compacting = Task { try await journal.compact() }
    // Usually long enough for the call to begin.
    try await Task.sleep(for: .milliseconds(20))
    mayEncode.open()
    await beginning
    try await compacting.value

    #expect(try journal.replay(Slow(), reducer: counting) == Slow())
    // The state of another run would not follow from the lines before it.
    try journal.verify(Slow(), reducer: counting)
    withExtendedLifetime(recording.value) {}
  }
}
