import Foundation
import MiniRex
import MiniRexJournal
import MiniRexStore
import TestSupport
import Testing

@testable import journal_keeper

private let isEncoding = Gate()
private let mayEncode = Gate()

/// An action whose encoding waits for the test, if its amount is 1.
private struct Held: Codable, Sendable {
  var amount: Int

  func encode(to encoder: any Encoder) throws {
    if amount == 1 {
      isEncoding.open()
      mayEncode.wait()
    }
    var container = encoder.singleValueContainer()
    try container.encode(amount)
  }
}

@Suite(.heavy) struct JournalAttackTests {
  @Test func `S39 a canceled recording does not write the commit that it was encoding`()
    async throws
  {
    let folder = try Folder()
    let journal = try Journal<Int, Held>(folder.journal)
    let store = Store(0) { (state: inout Int, action: Held) in
      state += action.amount
      return .none
    }
    let first = journal.record(store)
    let sending = Task.detached { await onQueue { store.send(Held(amount: 1)) } }
    await onQueue { isEncoding.wait() }

    first.invalidate()
    let second = journal.record(store)
    mayEncode.open()
    await sending.finished()
    store.send(Held(amount: 2))
    try await journal.flush()

    let lines = try folder.lines()
    #expect(lines.count == 4 && lines[3].contains(#","number":1,"#))
    #expect(lines[3].contains(#""action":"#))
    #expect(try journal.replay(0, upTo: 0) { _, _ in .none } == 0)
    #expect(try journal.replay(0, before: 1) { _, _ in .none } == 1)
    withExtendedLifetime(second) {}
  }

  @Test func `S39 a recording that begins in a callback writes all later commits`() throws {
    let folder = try Folder()
    let journal = try LedgerJournal(folder)
    let store = Store(Ledger(), reducer: keeping)
    let recording = Shared<Subscription?>(nil)
    let beginning = store.events.first().subscribe { _ in
      store.send(.pay("queued", 1))
      recording.value = journal.record(store)
      store.send(.pay("queued after it", 2))
    }

    store.send(.down(2))
    store.send(.halve)

    #expect(journal.lastNumber == 2)
    #expect(try journal.replay() == store.state)
    try journal.verify()
    withExtendedLifetime(beginning) { recording.value = nil }
  }

  @Test func `S39 a subscriber of the failure can record again synchronously`() throws {
    let folder = try Folder()
    let journal = try Journal<Int, Stubborn>(folder.journal)
    let adding: Reducer<Int, Stubborn> = { state, action in
      state += action.amount
      return .none
    }
    let store = Store(0, reducer: adding)
    let second = Shared<Subscription?>(nil)
    let first = journal.record(store)
    let watching = journal.failure.subscribe { failure in
      if failure != nil { second.value = journal.record(store) }
    }

    for amount in [1, -1, 5] { store.send(Stubborn(amount: amount)) }

    #expect(!first.isSubscribed && second.value?.isSubscribed == true)
    #expect(journal.problem == nil && journal.lastNumber == 2)
    #expect(try journal.replay(0, reducer: adding) == 5)
    try journal.verify(0, reducer: adding)
    withExtendedLifetime(watching) { second.value = nil }
  }

  @Test func `S39 two journals of one store write equal files`() throws {
    let folder = try Folder()
    let journals = try ["one", "two"].map { try LedgerJournal(folder, $0) }
    let store = Store(Ledger(), reducer: keeping)
    let recordings = journals.map { $0.record(store) }

    for number in 1...50 { store.send(action(number)) }

    let files = try ["one", "two"].map { try Data(contentsOf: folder.file($0)) }
    #expect(files[0] == files[1])
    withExtendedLifetime(recordings) {}
  }

  @Test func `S39 a recording or store that ends during a turn has written complete lines`()
    throws
  {
    let folder = try Folder()
    let journal = try LedgerJournal(folder)
    let kept = Shared<Store<Ledger, LedgerAction>?>(Store(Ledger(), reducer: keeping))
    let recording = Shared<Subscription?>(nil)
    let ending = kept.value?.events.subscribe { event in
      if case .note("end")? = event.action { recording.value = nil }
      if case .note("drop")? = event.action { kept.value = nil }
    }
    recording.value = kept.value.map { journal.record($0) }

    kept.value?.send(.halve)
    kept.value?.send(.note("end"))
    #expect(journal.lastNumber == 1)
    recording.value = kept.value.map { journal.record($0) }
    let token = recording.value
    #expect(try journal.replay() == kept.value?.state)
    kept.value?.send(.note("drop"))

    #expect(kept.value == nil)
    #expect(token?.isSubscribed == false)
    #expect(try journal.replay().notes.first == "end")
    try journal.verify()
    withExtendedLifetime(ending) {}
  }

  @Test func `S39 a file can be opened again when its flushed journal is released`()
    async throws
  {
    let folder = try Folder()
    for round in 0..<scaled(200) {
      let journal = try LedgerJournal(folder)
      let store = Store(try journal.replay(), reducer: keeping)
      let recording = journal.record(store)
      store.send(action(round + 1))
      try await journal.flush()
      withExtendedLifetime(recording) {}
    }
    #expect(try LedgerJournal(folder).lastNumber == scaled(200))
  }

  @Test func `S39 four threads that send and flush lose no flushed commit`() async throws {
    let folder = try Folder()
    let journal = try LedgerJournal(folder, every: 20)
    let store = Store(Ledger(), reducer: keeping)
    let recording = journal.record(store)
    let count = max(20, scaled(500))
    let isOver = Shared(false)

    let flushing = Task {
      var flushes = 0
      repeat {
        let before = store.state.count
        try await journal.flush()
        #expect(journal.lastNumber >= before)
        flushes += 1
      } while !isOver.value
      return flushes
    }
    await onQueue {
      onThreads(4) { thread in for number in 1...count { store.send(.thread(thread, number)) } }
    }
    isOver.value = true
    #expect(try await flushing.finished() > 0)
    try await journal.flush()

    #expect(journal.lastNumber == 4 * count)
    let state = try journal.replay()
    #expect(state == store.state && state.gaps == 0)
    try journal.verify()
    withExtendedLifetime(recording) {}
  }

  @Test func `S39 recordings that begin and end during sends write no gap`()
    async throws
  {
    let folder = try Folder()
    let journal = try LedgerJournal(folder, every: 20)
    let store = Store(Ledger(), reducer: keeping)
    let count = max(20, scaled(500))

    await onQueue {
      onThreads(3) { thread in
        for number in 1...count {
          if thread < 2 {
            store.send(.thread(thread, number))
          } else {
            let recording = journal.record(store)
            store.send(.halve)
            recording.invalidate()
          }
        }
      }
    }
    let recording = journal.record(store)
    try await journal.flush()

    #expect(journal.problem == nil)
    #expect(try journal.replay() == store.state)
    try journal.verify()
    withExtendedLifetime(recording) {}
  }
}
