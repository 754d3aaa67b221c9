import Foundation
import MiniRex
import MiniRexJournal
import MiniRexStore
import TestSupport
import Testing

@testable import journal_keeper

extension JournalTests {
  @Test(arguments: [0, 1, 3, 1_000])
  func `S40 replay restores the state of each commit byte for byte`(distance: Int) throws {
    let folder = try Folder()
    var states = try folder.record(20, every: distance)
    states += try folder.record(20, every: distance).dropFirst()

    let journal = try LedgerJournal(folder, every: distance)
    for (number, state) in states.enumerated() {
      #expect(try encoded(journal.replay(upTo: number)) == encoded(state))
    }
    #expect(try encoded(journal.replay()) == encoded(states[40]))
    #expect(try encoded(journal.replay(upTo: 1_000)) == encoded(states[40]))
    #expect(throws: JournalFailure.notKept(first: 0)) { try journal.replay(upTo: -1) }
    try journal.verify()
  }

  private static let adding: Reducer<Int, Int> = { state, action in
    state += action
    return .none
  }

  /// Records a run of a store with this state, and returns the journal.
  private func run(_ folder: Folder, from state: Int?, _ actions: [Int]) throws {
    let journal = try Journal<Int, Int>(folder.journal, snapshotEvery: 4)
    let store = Store(
      try state ?? journal.replay(0, reducer: Self.adding), reducer: Self.adding)
    let recording = journal.record(store)
    for action in actions { store.send(action) }
    recording.invalidate()
  }

  @Test func `J21 replay reaches the last state of a run that another run did not continue`() throws
  {
    let folder = try Folder()
    try run(folder, from: nil, [10, 10, 10, 10, 10])
    try run(folder, from: 0, [1])

    let journal = try Journal<Int, Int>(folder.journal)
    let after = try (0...8).map { try journal.replay(7, upTo: $0, reducer: Self.adding) }
    #expect(after == [0, 10, 20, 30, 40, 50, 1, 1, 1])
    let before = try (0...8).map { try journal.replay(7, before: $0, reducer: Self.adding) }
    #expect(before == [7, 0, 10, 20, 30, 40, 0, 1, 1])
    #expect(throws: JournalFailure.notKept(first: 0)) {
      try journal.replay(7, upTo: .min, reducer: Self.adding)
    }
    #expect(try journal.replay(7, before: .min, reducer: Self.adding) == 7)
    #expect(try journal.replay(7, before: .max, reducer: Self.adding) == 1)
  }

  @Test func `J21 replay reaches every state of runs that begin again and again`() throws {
    let folder = try Folder()
    try run(folder, from: 100, [])
    try run(folder, from: 200, [1])
    try run(folder, from: 300, [])
    try run(folder, from: nil, [])
    try run(folder, from: 400, [])
    try run(folder, from: nil, [1, 1])
    try run(folder, from: 500, [])

    let journal = try Journal<Int, Int>(folder.journal)
    let after = try (0...4).map { try journal.replay(0, upTo: $0, reducer: Self.adding) }
    #expect(after == [100, 201, 401, 402, 500])
    let before = try (1...4).map { try journal.replay(0, before: $0, reducer: Self.adding) }
    #expect(before == [200, 400, 401, 500])
    #expect(try journal.replay(0, reducer: Self.adding) == 500)
    try journal.verify(0, reducer: Self.adding)
  }

  @Test func `J21 a damaged start never returns the state of another run`()
    throws
  {
    let folder = try Folder()
    try run(folder, from: nil, [10, 10])
    try run(folder, from: 5, [])
    try run(folder, from: nil, [1])
    let bytes = try folder.bytes()
    for place in bytes.indices {
      for bit in [0, 2, 4] {
        var damaged = bytes
        damaged[place] ^= 1 << bit
        try folder.write(damaged, to: "journal")
        guard let journal = try? Journal<Int, Int>(folder.journal) else { continue }
        do throws(JournalFailure) {
          #expect(try journal.replay(0, upTo: 2, reducer: Self.adding) == 20)
        } catch {
          guard case .damaged = error else {
            Issue.record("\(error)")
            continue
          }
        }
      }
    }
  }

  @Test func `S40 an empty journal returns the initial state`() throws {
    let journal = try LedgerJournal(try Folder())
    var first = Ledger()
    first.notes = ["first"]

    #expect(try journal.replay(first, reducer: keeping) == first)
    #expect(journal.lastNumber == 0)
    try journal.verify()
  }

  @Test func `S40 replay starts no effect`() throws {
    let folder = try Folder()
    let effects = Shared(0)
    let reducer: Reducer<Int, Int> = { state, action in
      state += action
      return .run { _ in effects.increment() }
    }
    let journal = try Journal<Int, Int>(folder.journal)
    let store = Store(0) { (state: inout Int, action: Int) in
      state += action
      return .none
    }
    let recording = journal.record(store)
    for number in 1...3 { store.send(number) }

    #expect(try journal.replay(0, reducer: reducer) == 6)
    #expect(effects.value == 0)
    withExtendedLifetime(recording) {}
  }

  @Test
  func `S40 replay begins at the last snapshot`()
    throws
  {
    let folder = try Folder()
    let states = try folder.record(10, every: 4)
    let lines = try folder.lines()
    let snapshots = lines.indices.filter { lines[$0].contains(#","snapshot":{"#) }
    #expect(snapshots == [6, 11])

    let journal = try LedgerJournal(folder)
    let calls = Shared(0)
    let state = try journal.replay(Ledger()) { state, action in
      calls.increment()
      return keeping(&state, action)
    }
    #expect(state == states[10])
    #expect(calls.value == 2)
  }

  @Test func `S40 without snapshots, replay begins at the last recording`() throws {
    let folder = try Folder()
    _ = try folder.record(10, every: 0)
    let states = try folder.record(5, every: 0)

    let calls = Shared(0)
    let state = try LedgerJournal(folder).replay(Ledger()) { state, action in
      calls.increment()
      return keeping(&state, action)
    }
    #expect(state == states[5])
    #expect(calls.value == 5)
  }

  @Test func `S40 a replay during a recording reads complete lines`() throws {
    let folder = try Folder()
    let journal = try LedgerJournal(folder, every: 50)
    let store = Store(Ledger(), reducer: keeping)
    let recording = journal.record(store)
    let count = scaled(2_000)

    onThreads(2) { thread in
      if thread == 0 {
        for number in 1...count { store.send(action(number)) }
      } else {
        var last = 0
        while last < count {
          let number = journal.lastNumber
          let state = try? journal.replay()
          #expect((state?.count ?? -1) >= number)
          last = number
        }
      }
    }
    withExtendedLifetime(recording) {}
  }

  @Test func `S40 a missing line is damage`() throws {
    let folder = try Folder()
    _ = try folder.record(10, every: 0)
    var lines = try folder.lines()
    let offset = lines[..<5].reduce(0) { $0 + $1.utf8.count + 1 }
    lines.remove(at: 5)
    _ = try folder.write(lines.map { $0 + "\n" }.joined(), to: "journal")

    #expect(throws: JournalFailure.damaged(atByte: offset)) { try LedgerJournal(folder) }
  }

  @Test func `S40 a journal without its first state is damaged`() throws {
    let folder = try Folder()
    _ = try folder.record(3)
    var lines = try folder.lines()
    lines.remove(at: 1)
    _ = try folder.write(lines.map { $0 + "\n" }.joined(), to: "journal")

    let failure = JournalFailure.damaged(atByte: lines[0].utf8.count + 1)
    #expect(throws: failure) { try LedgerJournal(folder) }
  }

  @Test func `S40 replay does not read damage before the last snapshot`() throws {
    let folder = try Folder()
    let states = try folder.record(10, every: 4)
    var bytes = try folder.bytes()
    let place = try folder.lines()[..<3].reduce(0) { $0 + $1.utf8.count + 1 }
    bytes[place + 40] ^= 1
    try folder.write(bytes, to: "journal")

    let journal = try LedgerJournal(folder)
    #expect(try journal.replay() == states[10])
    #expect(try journal.replay(upTo: 4) == states[4])
    #expect(throws: JournalFailure.damaged(atByte: place)) { try journal.replay(upTo: 3) }
    #expect(throws: JournalFailure.damaged(atByte: place)) { try journal.verify() }
  }

  @Test func `S40 a changed action type is reported with the number`() throws {
    enum Changed: Codable, Sendable {
      case pay(name: String, amount: Int)
      case halve
      case note(String)
    }
    let folder = try Folder()
    _ = try folder.record(5, every: 0)

    let journal = try Journal<Ledger, Changed>(folder.journal)
    #expect {
      try journal.replay(Ledger()) { _, _ in .none }
    } throws: { error in
      guard case .unreadable(number: 2, let reason)? = error as? JournalFailure else {
        return false
      }
      return reason.contains("name")
    }
  }

  @Test
  func `S40 a changed state type makes a start unreadable, but no snapshot`()
    throws
  {
    struct Changed: Codable, Sendable { var title: String }
    let folder = try Folder()
    _ = try folder.record(5, every: 2)

    let journal = try Journal<Changed, LedgerAction>(folder.journal)
    #expect {
      try journal.replay(Changed(title: "")) { _, _ in .none }
    } throws: { error in
      guard case .unreadable(number: 0, let reason)? = error as? JournalFailure else {
        return false
      }
      return reason.contains("title")
    }
  }

  @Test func `S40 replay skips a snapshot that cannot be decoded`() throws {
    struct Picky: Codable, Sendable {
      var numbers: [Int]

      init(from decoder: any Decoder) throws {
        numbers = try decoder.singleValueContainer().decode([Int].self)
        if numbers.count == 4 { throw CocoaError(.coderInvalidValue) }
      }
    }
    let folder = try Folder()
    do {
      let journal = try Journal<[Int], Int>(folder.journal, snapshotEvery: 2)
      let store = Store([]) { (state: inout [Int], action: Int) in
        state.append(action)
        return .none
      }
      let recording = journal.record(store)
      for number in 1...5 { store.send(number) }
      withExtendedLifetime(recording) {}
    }

    let journal = try Journal<Picky, Int>(folder.journal)
    let first = try JSONDecoder().decode(Picky.self, from: Data("[]".utf8))
    let state = try journal.replay(first) { state, action in
      state.numbers.append(action)
      return .none
    }
    #expect(state.numbers == [1, 2, 3, 4, 5])
  }

  @Test func `S40 a file of another version or format is refused`() throws {
    let folder = try Folder()
    let second = #"{"crc":"482a3785","journal":"MiniRex","version":3}"#
    _ = try folder.write(second + "\n", to: "journal")
    #expect(throws: JournalFailure.version(3)) { try LedgerJournal(folder) }

    for text in ["{}\n", "hello", "\n", second, String(repeating: "x", count: 10_000)] {
      let before = try folder.write(text, to: "journal")
      #expect(throws: JournalFailure.damaged(atByte: 0)) { try LedgerJournal(folder) }
      #expect(try String(contentsOfFile: before, encoding: .utf8) == text)
    }
  }

  @Test func `S40 verify finds a reducer that reads the outside world`() throws {
    let folder = try Folder()
    let clock = Shared(0)
    let reducer: Reducer<[Int], Int> = { state, action in
      state.append(action == 7 ? clock.increment() : action)
      return .none
    }
    let journal = try Journal<[Int], Int>(folder.journal, snapshotEvery: 5)
    let store = Store([], reducer: reducer)
    let recording = journal.record(store)

    for number in [1, 2, 3, 4, 5, 6, 8, 9, 10, 11] { store.send(number) }
    try journal.verify([], reducer: reducer)
    for number in [1, 7, 2, 3, 4] { store.send(number) }

    #expect(throws: JournalFailure.diverged(number: 15)) {
      try journal.verify([], reducer: reducer)
    }
    withExtendedLifetime(recording) {}
  }

  @Test func `S40 verify finds random numbers in three runs without a snapshot`() throws {
    let folder = try Folder()
    let reducer: Reducer<[Int], Int> = { state, action in
      state.append(Int.random(in: 0...1_000_000))
      return .none
    }
    for _ in 1...3 {
      let journal = try Journal<[Int], Int>(folder.journal)
      let store = Store(try journal.replay([], reducer: reducer), reducer: reducer)
      let recording = journal.record(store)
      for number in 1...300 { store.send(number) }
      recording.invalidate()
    }

    let journal = try Journal<[Int], Int>(folder.journal)
    #expect(journal.lastNumber == 900)
    #expect(throws: JournalFailure.diverged(number: 300)) {
      try journal.verify([], reducer: reducer)
    }
  }

  @Test func `S40 verify compares the first state of a recording that continues`() throws {
    let folder = try Folder()
    _ = try folder.record(3)
    _ = try folder.record(3)
    // The program replays twice before it records.
    do {
      let journal = try LedgerJournal(folder)
      _ = try journal.replay()
      let store = Store(try journal.replay(), reducer: keeping)
      _ = try journal.replay(upTo: 2)
      let recording = journal.record(store)
      store.send(.halve)
      recording.invalidate()
      // No recording writes this commit.
      store.send(.halve)
      let second = journal.record(store)
      store.send(.halve)
      second.invalidate()
    }
    let kinds = try folder.lines().compactMap { line in
      [#"true,"start":"#, #""start":"#, #""resume":"#].first { line.contains($0) }
    }
    #expect(kinds == [#""start":"#, #"true,"start":"#, #"true,"start":"#, #""start":"#])
    try LedgerJournal(folder).verify()
    let changed: Reducer<Ledger, LedgerAction> = { state, action in
      state.count += 1
      return keeping(&state, action)
    }
    #expect(throws: JournalFailure.diverged(number: 3)) {
      try LedgerJournal(folder).verify(Ledger(), reducer: changed)
    }
  }

  @Test func `S40 verify accepts a state that does not equal itself`() throws {
    let folder = try Folder()
    let reducer: Reducer<[Double], Double> = { state, action in
      state.append(action)
      return .none
    }
    let journal = try Journal<[Double], Double>(folder.journal, snapshotEvery: 2)
    let store = Store([], reducer: reducer)
    let recording = journal.record(store)
    for number in [.nan, 1, 2, 3] { store.send(number) }

    try journal.verify([], reducer: reducer)
    withExtendedLifetime(recording) {}
  }

  @Test func `S40 infinities and NaN are restored`() throws {
    let folder = try Folder()
    let journal = try Journal<[Double], Double>(folder.journal)
    let reducer: Reducer<[Double], Double> = { state, action in
      state.append(action)
      return .none
    }
    let store = Store([.infinity], reducer: reducer)
    let recording = journal.record(store)
    for number in [.nan, -.infinity, 0.1, -0.0, .leastNonzeroMagnitude] { store.send(number) }

    let replayed = try journal.replay([], reducer: reducer)
    #expect(replayed.map(\.bitPattern) == store.state.map(\.bitPattern))
    withExtendedLifetime(recording) {}
  }
}
