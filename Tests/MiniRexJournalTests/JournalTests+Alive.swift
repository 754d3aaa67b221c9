import Foundation
import MiniRex
import MiniRexJournal
import MiniRexStore
import MiniRexTesting
import TestSupport
import Testing

@testable import journal_keeper

extension JournalTests {
  @Test func `S39 each commit is one appended line with number, checksum and action`() throws {
    let folder = try Folder()
    let journal = try LedgerJournal(folder)
    let store = Store(Ledger(), reducer: keeping)
    let recording = journal.record(store)

    store.send(.pay("a", 3))
    let before = try folder.bytes()
    store.send(.note("two\nlines"))

    let lines = try folder.lines()
    #expect(try folder.bytes().starts(with: before))
    #expect(lines.count == 4)
    #expect(
      lines[0] == #"{"crc":"49b549e9","journal":"MiniRex","version":2,"segment":1,"first":0}"#)
    #expect(lines[1].contains(#","number":0,"at":1000,"start":{"accounts":{},"#))
    #expect(lines[2].hasSuffix(#","number":1,"action":{"pay":{"_0":"a","_1":3}}}"#))
    #expect(lines[3].hasSuffix(#","number":2,"action":{"note":{"_0":"two\nlines"}}}"#))
    for line in lines { #expect(line.wholeMatch(of: /\{"crc":"[0-9a-f]{8}",".*\}/) != nil) }
    withExtendedLifetime(recording) {}
  }

  @Test func `S39 the line is in the file when an uncontended send returns`() throws {
    let folder = try Folder()
    let journal = try LedgerJournal(folder)
    let store = Store(Ledger(), reducer: keeping)
    let recording = journal.record(store)

    for number in 1...100 {
      store.send(action(number))
      #expect(journal.lastNumber == number)
      #expect(try folder.lines().last?.contains(",\"number\":\(number),") == true)
    }
    withExtendedLifetime(recording) {}
  }

  @Test func `S39 numbers continue from run to run, and record begins with the state`() throws {
    let folder = try Folder()
    _ = try folder.record(3)
    let journal = try LedgerJournal(folder)
    #expect(journal.lastNumber == 3)
    let store = Store(try journal.replay(), reducer: keeping)
    // No recording writes this commit.
    store.send(.pay("unseen", 1))
    let recording = journal.record(store)
    store.send(.halve)

    #expect(try folder.lines().count == 1 + 4 + 2)
    #expect(try folder.lines()[5].contains(#","number":3,"start":"#))
    #expect(journal.lastNumber == 4)
    #expect(try journal.replay() == store.state)
    #expect(try journal.replay().accounts["unseen"] == 1)
    withExtendedLifetime(recording) {}
  }

  @Test func `S39 a recording without a replay begins again after the old lines`() throws {
    let folder = try Folder()
    let states = try folder.record(3)
    let journal = try LedgerJournal(folder)
    let store = Store(Ledger(), reducer: keeping)
    let recording = journal.record(store)
    store.send(.pay("new", 1))

    #expect(try journal.replay() == store.state)
    #expect(try journal.replay(upTo: 2) == states[2])
    withExtendedLifetime(recording) {}
  }

  @Test func `S39 an action that a reducer returns has a separate line`() throws {
    let folder = try Folder()
    let journal = try LedgerJournal(folder)
    let store = Store(Ledger(), reducer: keeping)
    let recording = journal.record(store)

    store.send(.down(3))

    #expect(journal.lastNumber == 4)
    #expect(try journal.replay() == store.state)
    withExtendedLifetime(recording) {}
  }

  @Test func `S39 a commit without an action is written as a snapshot, with its cause`() throws {
    let folder = try Folder()
    let journal = try Journal<Ledger, Never>(folder.journal)
    let store = Store(Ledger())
    let recording = journal.record(store)

    store.commit("say \"hi\"\n") { $0.notes = ["hi"] }
    store.count = 7

    let lines = try folder.lines()
    #expect(lines[2].contains(#","number":1,"cause":"say \"hi\"\n","state":{"#))
    #expect(lines[3].contains(#","number":2,"cause":"\\Ledger.count","state":{"#))
    let replayed = try journal.replay(Ledger(), upTo: 1, reducer: ignoring)
    #expect(replayed.notes == ["hi"] && replayed.count == 0)
    #expect(try journal.replay(Ledger(), reducer: ignoring) == store.state)
    try journal.verify(Ledger(), reducer: ignoring)
    withExtendedLifetime(recording) {}
  }

  @Test func `S39 only a recording writes`() throws {
    let folder = try Folder()
    let journal = try LedgerJournal(folder)
    let store = Store(Ledger(), reducer: keeping)
    store.send(.halve)
    #expect(try folder.bytes().isEmpty)

    let recording = journal.record(store)
    recording.invalidate()
    let before = try folder.bytes()
    store.send(.halve)

    #expect(try folder.bytes() == before)
    #expect(store.subscriberCount == 0)
  }

  @Test func `S39 a contended send is written when flush returns`() async throws {
    let folder = try Folder()
    let journal = try LedgerJournal(folder)
    let store = Store(Ledger(), reducer: keeping)
    let (isInside, mayLeave) = (Gate(), Gate())
    let holding = store.events.first().subscribe { _ in
      isInside.open()
      mayLeave.wait()
    }
    let recording = journal.record(store)

    let delivering = Task.detached { await onQueue { store.send(.pay("a", 1)) } }
    await onQueue { isInside.wait() }
    store.send(.pay("b", 2))
    #expect(journal.lastNumber == 0)
    let flushing = Task { try await journal.flush() }
    mayLeave.open()
    try await flushing.finished()

    #expect(journal.lastNumber == 2)
    #expect(try journal.replay() == store.state)
    await delivering.finished()
    withExtendedLifetime((holding, recording)) {}
  }

  @Test func `S39 flush returns after the recording, and after the store`() async throws {
    let folder = try Folder()
    let journal = try LedgerJournal(folder)
    try await journal.flush()
    var store: Store<Ledger, LedgerAction>? = Store(Ledger(), reducer: keeping)
    let recording = store.map { journal.record($0) }
    store?.send(.halve)
    try await journal.flush()
    store?.send(.halve)
    store = nil

    try await journal.flush()

    #expect(journal.lastNumber == 2)
    #expect(recording?.isSubscribed == false)
    #expect(journal.problem == nil)
  }

  @Test func `S39 with everyCommit the lines are the same`() throws {
    let folder = try Folder()
    let journal = try LedgerJournal(folder.journal, sync: .everyCommit)
    let store = Store(Ledger(), reducer: keeping)
    let recording = journal.record(store)

    for number in 1...5 { store.send(action(number)) }

    #expect(try journal.replay() == store.state)
    withExtendedLifetime(recording) {}
  }

  @Test func `S39 a value without JSON ends the recording and affects no send`()
    async throws
  {
    let folder = try Folder()
    let journal = try Journal<Int, Stubborn>(folder.journal)
    let store = Store(0) { (state: inout Int, action: Stubborn) in
      state += action.amount
      return .none
    }
    let failures = Recorder(journal.failure)
    let recording = journal.record(store)

    for amount in [1, -1, 2] { store.send(Stubborn(amount: amount)) }

    #expect(store.state == 2)
    #expect(!recording.isSubscribed)
    #expect(journal.lastNumber == 1)
    guard case .unwritable(2, let reason)? = journal.problem else {
      Issue.record("\(journal.problem.debugDescription)")
      return
    }
    #expect(reason == "a value of type Stubborn is invalid")
    #expect(failures.updates.count == 2)
    await #expect(throws: JournalFailure.unwritable(number: 2, reason)) {
      try await journal.flush()
    }

    let second = journal.record(store)
    try await journal.flush()
    #expect(journal.problem == nil)
    #expect(
      try journal.replay(0) {
        $0 += $1.amount
        return .none
      } == 2)
    withExtendedLifetime(second) {}
  }

  @Test func `S42 recording a scope, two stores, or a negative distance traps with advice`() async {
    let scope = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let folder = try Folder()
      let journal = try Journal<[String], Never>(folder.journal)
      let store = Store(Ledger())
      _ = journal.record(store.scope(\.notes))
    }
    let second = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let journal = try LedgerJournal(try Folder())
      let stores = [1, 2].map { _ in Store(Ledger(), reducer: keeping) }
      let recordings = stores.map { journal.record($0) }
      withExtendedLifetime(recordings) {}
    }
    let distance = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = try LedgerJournal(try Folder(), every: -1)
    }

    #expect(advice(scope).contains("Record the root store"))
    #expect(advice(second).contains("Cancel that recording first"))
    #expect(advice(distance).contains("0 means never"))
  }
}

/// An action that cannot be encoded if its amount is negative.
struct Stubborn: Codable, Sendable {
  var amount: Int

  init(amount: Int) { self.amount = amount }

  init(from decoder: any Decoder) throws {
    amount = try decoder.singleValueContainer().decode(Int.self)
  }

  func encode(to encoder: any Encoder) throws {
    if amount < 0 {
      let context = EncodingError.Context(codingPath: [], debugDescription: "There are no debts.")
      throw EncodingError.invalidValue(self, context)
    }
    var container = encoder.singleValueContainer()
    try container.encode(amount)
  }
}

/// Generic, because the compiler warns about a closure with a parameter of type `Never`.
private func ignoring<State, Action>(_: inout State, _: Action) -> Effect<Action> { .none }
