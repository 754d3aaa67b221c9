import Foundation
import MiniRex
import MiniRexStore
import TestSupport
import Testing

@testable import MiniRexJournal
@testable import journal_keeper

/// Lets one encoding wait for the test.
private final class Encoding: Sendable {
  private let isAwaited = Shared(true)
  private let hasBegun = Gate()
  private let mayEnd = Gate()

  func begin() {
    let waits = isAwaited.change { isAwaited in
      defer { isAwaited = false }
      return isAwaited
    }
    if !waits { return }
    hasBegun.open()
    mayEnd.wait()
  }

  func begun() async { await onQueue { [hasBegun] in hasBegun.wait() } }

  func end() { mayEnd.open() }
}

private let firstOfZero = Encoding()
private let firstOfLarge = Encoding()

/// A state whose first encoding waits for the test, if it is 0, or large and 1.
private struct Slow: Codable, Sendable, Equatable {
  var count = 0
  var text = ""

  func encode(to encoder: any Encoder) throws {
    if count == 0, text.isEmpty { firstOfZero.begin() }
    if count == 1, !text.isEmpty { firstOfLarge.begin() }
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(count, forKey: .count)
    try container.encode(text, forKey: .text)
  }
}

private let firstAction = Encoding()

/// An action whose first encoding waits for the test, if it is negative.
private struct SlowAction: Codable, Sendable {
  let value: Int

  init(_ value: Int) { self.value = value }

  init(from decoder: any Decoder) throws {
    value = try decoder.singleValueContainer().decode(Int.self)
  }

  func encode(to encoder: any Encoder) throws {
    if value < 0 { firstAction.begin() }
    var container = encoder.singleValueContainer()
    try container.encode(value)
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
    try await compacting.finished()
    #expect(try journal.replay() == state)
    #expect(try journal.verify().lastNumber == state.count)
  }

  @Test func `J16 compact begins again after another recording has begun`() async throws {
    let folder = try Folder()
    let large = Slow(text: String(repeating: "x", count: 20_000))
    let journal = try Journal<Slow, Int>(folder.journal, snapshotEvery: 0)
    let store = Store(large, reducer: counting)
    let recording = journal.record(store)
    store.send(1)
    let compacting = Task { try await journal.compact() }
    // The state of this recording is being encoded for the new file.
    await firstOfLarge.begun()
    recording.invalidate()
    let other = Store(try journal.replay(large, reducer: counting), reducer: counting)
    let second = journal.record(other)
    other.send(1)
    firstOfLarge.end()
    try await compacting.finished()

    #expect(journal.file.extent.header.first > 0)
    #expect(try journal.replay(large, reducer: counting) == other.state)
    try journal.verify(large, reducer: counting)
    withExtendedLifetime(second) {}
  }

  @Test func `J11 a commit that another recording has overtaken is not written`() async throws {
    let folder = try Folder()
    let adding: Reducer<Int, SlowAction> = { state, action in
      state += action.value
      return .none
    }
    let journal = try Journal<Int, SlowAction>(folder.journal)
    let store = Store(0, reducer: adding)
    let recording = journal.record(store)
    let progress = journal.currentRecording
    async let sending: Void = onQueue { store.send(SlowAction(-1)) }
    await firstAction.begun()
    recording.invalidate()
    let other = Store(try journal.replay(0, reducer: adding), reducer: adding)
    let second = journal.record(other)
    other.send(SlowAction(5))
    firstAction.end()
    await sending

    await #expect(throws: JournalFailure.notRecording) { try await progress.flush(through: 1) }
    #expect(try journal.replay(0, reducer: adding) == 5)
    withExtendedLifetime(second) {}
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
    await firstOfZero.begun()
    let compacting = Task { try await journal.compact() }
    // Usually long enough for the call to begin.
    try await Task.sleep(for: .milliseconds(20))
    firstOfZero.end()
    await beginning
    try await compacting.finished()

    #expect(try journal.replay(Slow(), reducer: counting) == Slow())
    // The state of another run would not follow from the lines before it.
    try journal.verify(Slow(), reducer: counting)
    withExtendedLifetime(recording.value) {}
  }
}
