import Foundation
import MiniRex
import MiniRexStore
import TestSupport
import Testing

@testable import MiniRexJournal
@testable import journal_keeper

private let isEncoding = Gate()
private let mayEncode = Gate()

/// A state of more than 16 KiB, whose encoding waits for the test if its count is 3.
private struct Heavy: Codable, Sendable, Equatable {
  var count = 0
  var text = String(repeating: "x", count: 20_000)

  func encode(to encoder: any Encoder) throws {
    if count == 3 {
      isEncoding.open()
      mayEncode.wait()
    }
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(count, forKey: .count)
    try container.encode(text, forKey: .text)
  }
}

private let counting: Reducer<Heavy, Int> = { state, action in
  state.count += action
  return .none
}

extension JournalTests {
  @Test func `J1 a copy made during compactions has every flushed commit`() async throws {
    let folder = try Folder()
    let journal = try LedgerJournal(folder)
    let store = Store(Ledger(), reducer: keeping)
    let recording = journal.record(store)
    let isOver = Shared(false)
    let sending = Task.detached {
      await onQueue {
        while !isOver.value, store.state.count < 3_000 { store.send(action(store.state.count + 1)) }
      }
    }
    let compacting = Task.detached {
      while !isOver.value {
        try await journal.compact()
        // A compaction without a new commit does not suspend.
        try await Task.sleep(for: .microseconds(100))
      }
    }
    for round in 1...10 {
      try await journal.flush()
      let number = journal.lastNumber
      let copy = folder.file("copy \(round)")
      try FileManager.default.copyItem(at: folder.journal, to: copy)
      let state = try LedgerJournal(copy).replay()
      #expect(state.count >= number)
    }
    isOver.value = true
    await sending.finished()
    try await compacting.finished()
    #expect(try journal.replay() == store.state)
    let verification = try journal.verify()
    #expect(verification.firstNumber == 0 && verification.lastNumber == store.state.count)
    #expect(verification.statesCompared >= folder.segments.count)
    withExtendedLifetime(recording) {}
  }

  @Test func `J16 an older copy of the newest file is compacted after it was restored`()
    async throws
  {
    let folder = try Folder()
    _ = try folder.record(10)
    let copy = try folder.bytes()
    func recordMore() async throws -> Ledger {
      let journal = try LedgerJournal(folder)
      let store = Store(try journal.replay(), reducer: keeping)
      let recording = journal.record(store)
      for _ in 1...5 { store.send(action(store.state.count + 1)) }
      try await journal.compact()
      store.send(action(store.state.count + 1))
      try await journal.flush()
      withExtendedLifetime(recording) {}
      return store.state
    }
    _ = try await recordMore()
    _ = try await recordMore()

    try folder.write(copy, to: "journal")
    let state = try await recordMore()

    let journal = try LedgerJournal(folder)
    #expect(try journal.replay() == state)
    #expect(try journal.replay(upTo: 12).count == 12)
    #expect(try journal.verify().firstNumber == 0)
  }

  @Test func `J4 the new file of a compaction is locked`() async throws {
    let folder = try Folder()
    let journal = try LedgerJournal(folder, keeping: .latestState)
    let store = Store(Ledger(), reducer: keeping)
    let recording = journal.record(store)
    store.send(.halve)
    try await journal.compact()

    #expect(throws: JournalFailure.inUse) { try LedgerJournal(folder) }
    try folder.append("{}\n", to: "journal")
    await #expect(throws: JournalFailure.inUse) {
      store.send(.halve)
      try await journal.flush()
    }
    #expect(!recording.isSubscribed)
  }

  @Test func `J15 with latestState the file stays below twice its first state and 1 MiB`() throws {
    let folder = try Folder()
    let journal = try LedgerJournal(folder, every: nil, keeping: .latestState)
    let store = Store(Ledger(), reducer: keeping)
    let recording = journal.record(store)
    let text = String(repeating: "x", count: 2_000)
    var most = 0
    for number in 1...scaled(2_000) {
      store.send(.note("\(number) \(text)"))
      most = max(most, journal.status.current()?.fileBytes ?? 0, journal.file.extent.length)
    }
    #expect(most <= 2 * 15_000 + 1 << 20)
    #expect(folder.names == ["journal"])
    #expect(try journal.replay() == store.state)
    if scale >= 1 { #expect(try !folder.lines()[0].contains(#""segment":1,"#)) }
    withExtendedLifetime(recording) {}
  }

  @Test func `J16 compact begins a new file immediately, and none without a commit`() async throws {
    let folder = try Folder()
    let journal = try LedgerJournal(folder, every: 0)
    let store = Store(Ledger(), reducer: keeping)
    let recording = journal.record(store)
    try await journal.compact()
    #expect(folder.segments == [])
    for number in 1...5 { store.send(action(number)) }
    try await journal.compact()
    try await journal.compact()
    #expect(folder.segments == ["000001-0.journal"])
    #expect(journal.status.current()?.durableNumber == 5)
    store.send(action(6))

    #expect(try folder.lines().count == 3)
    #expect(try folder.lines()[2].contains(#""number":6,"synced":5,"action":"#))
    for number in 0...6 { #expect(try journal.replay(upTo: number).count == number) }
    #expect(
      try journal.verify() == JournalVerification(firstNumber: 0, lastNumber: 6, statesCompared: 1))
    withExtendedLifetime(recording) {}
  }

  @Test(arguments: [true, false])
  func `J16 compact waits for commits that another thread delivers`(isKept: Bool) async throws {
    let folder = try Folder()
    let journal = try LedgerJournal(folder)
    let store = Store(Ledger(), reducer: keeping)
    let (isDelivering, mayDeliver) = (Gate(), Gate())
    let isFirst = Shared(true)
    let slow = store.events.subscribe { _ in
      guard isFirst.value else { return }
      isFirst.value = false
      isDelivering.open()
      mayDeliver.wait()
    }
    let recording = journal.record(store)
    async let sending: Void = onQueue { store.send(action(1)) }
    await onQueue { isDelivering.wait() }
    store.send(action(2))

    let compacting = Task { try await journal.compact() }
    // Usually long enough for the call to begin.
    try await Task.sleep(for: .milliseconds(20))
    if !isKept { recording.invalidate() }
    mayDeliver.open()
    await sending
    try await compacting.finished()
    if isKept {
      #expect(journal.file.extent.header.first == 2)
      #expect(folder.segments == ["000001-0.journal"])
      #expect(try journal.replay() == store.state)
    }
    withExtendedLifetime((slow, recording)) {}
  }

  @Test func `J16 without a recording, compact needs no reducer`() async throws {
    let folder = try Folder()
    let states = try folder.record(10, every: 4)
    let journal = try LedgerJournal(folder, keeping: .latestState)
    try await journal.compact()

    let lines = try folder.lines()
    #expect(lines.count == 4 && lines[1].contains(#""number":8,"at":1000,"snapshot":"#))
    #expect(try journal.replay() == states[10])
    #expect(throws: JournalFailure.notKept(first: 8)) { try journal.replay(upTo: 7) }
    let store = Store(try journal.replay(), reducer: keeping)
    let recording = journal.record(store)
    store.send(action(11))
    #expect(try journal.replay() == store.state)
    #expect(folder.names == ["journal"])
    try journal.verify()
    withExtendedLifetime(recording) {}
  }

  @Test func `J17 a large state is encoded while sends continue`() async throws {
    let folder = try Folder()
    let journal = try Journal<Heavy, Int>(folder.journal, snapshotEvery: 3)
    let store = Store(Heavy(), reducer: counting)
    let recording = journal.record(store)
    for _ in 1...3 { store.send(1) }
    await onQueue { isEncoding.wait() }
    store.send(1)
    store.send(1)
    #expect(journal.lastNumber == 5)
    mayEncode.open()
    await until { (try? folder.lines().last?.contains(#""back":"#)) == true }

    let calls = Shared(0)
    let state = try journal.replay(Heavy()) { state, action in
      calls.increment()
      return counting(&state, action)
    }
    #expect(state == store.state && calls.value == 2)
    for number in 0...5 {
      #expect(try journal.replay(Heavy(), upTo: number, reducer: counting).count == number)
    }
    #expect(try journal.verify(Heavy(), reducer: counting).statesCompared == 1)
    try await journal.compact()
    #expect(try folder.lines().count == 2)
    #expect(try journal.replay(Heavy(), reducer: counting) == store.state)
    withExtendedLifetime(recording) {}
  }

  @Test func `J18 a failed compaction changes nothing`() async throws {
    let folder = try Folder()
    let journal = try LedgerJournal(folder)
    let store = Store(Ledger(), reducer: keeping)
    let recording = journal.record(store)
    store.send(action(1))
    try folder.make("journal.next")
    let before = try folder.bytes()

    await #expect(throws: JournalFailure.self) { try await journal.compact() }
    guard case .failed(.file)? = journal.status.current()?.compaction else {
      Issue.record("\(journal.status.current() as Any)")
      return
    }
    #expect(try folder.bytes() == before && folder.segments == [])
    store.send(action(2))
    try await journal.flush()
    #expect(recording.isSubscribed && journal.problem == nil)
    try FileManager.default.removeItem(at: folder.file("journal.next"))
    try await journal.compact()
    #expect(journal.status.current()?.compaction == .idle)
    #expect(try journal.replay() == store.state)
  }

  @Test func `J26 verify compares the first state of each file that continues another`()
    async throws
  {
    let folder = try Folder()
    let journal = try LedgerJournal(folder, every: 0)
    let store = Store(Ledger(), reducer: keeping)
    let recording = journal.record(store)
    for number in 1...9 {
      store.send(action(number))
      if number % 3 == 0 { try await journal.compact() }
    }
    #expect(
      try journal.verify() == JournalVerification(firstNumber: 0, lastNumber: 9, statesCompared: 3))
    let changed: Reducer<Ledger, LedgerAction> = { state, action in
      state.count += 1
      return keeping(&state, action)
    }
    #expect(throws: JournalFailure.diverged(number: 3)) {
      try journal.verify(Ledger(), reducer: changed)
    }
    withExtendedLifetime(recording) {}
  }
}

/// The number of rows that the sending thread has encoded.
private let encodedRows = Shared(0)

/// A row whose encoding counts if the current thread is a sender.
private struct CountedRow: Codable, Sendable, Equatable {
  var value = 0

  init(value: Int) { self.value = value }

  init(from decoder: any Decoder) throws {
    value = try decoder.singleValueContainer().decode(Int.self)
  }

  func encode(to encoder: any Encoder) throws {
    if Thread.current.name == "sender" { encodedRows.increment() }
    var container = encoder.singleValueContainer()
    try container.encode(value)
  }
}

private let growing: Reducer<[CountedRow], Int> = { rows, count in
  rows = (0..<count).map { CountedRow(value: $0) }
  return .none
}

extension JournalTests {
  @Test(arguments: [JournalHistory.everything, .latestState])
  func `J17 a state that has grown since it was encoded is encoded on another thread`(
    history: JournalHistory
  ) async throws {
    let folder = try Folder()
    let journal = try Journal<[CountedRow], Int>(
      folder.journal, keeping: history, snapshotEvery: 3)
    let store = Store([], reducer: growing)
    let recording = journal.record(store)
    let count = 200_000
    await onQueue {
      let isDone = DispatchSemaphore(value: 0)
      let thread = Thread {
        Thread.current.name = "sender"
        for _ in 1...3 { store.send(count) }
        isDone.signal()
      }
      thread.start()
      isDone.waitAtMost()
    }
    #expect(encodedRows.value < 20_000)
    if history == .everything {
      await until { (try? folder.lines().last?.contains(#""snapshot""#)) == true }
      try journal.verify([], reducer: growing)
    }
    try await journal.compact()
    #expect(try journal.replay([], reducer: growing).count == count)
    withExtendedLifetime(recording) {}
  }

  @Test func `J17 the size of a state is never overestimated`() throws {
    struct Everything: Codable {
      var text = "ä\u{1F995}"
      var missing: Int?
      var numbers = [1, 20, -300]
      var fractions: [Double] = [0.1, 1e300]
      var nested = ["a": ["b": [true, false]]]
      var pairs = [1: "x", 22: "yy"]
      var data = Data(count: 300)
      var date = Date(timeIntervalSince1970: 1)
      var page = URL(filePath: "/tmp/file")
      var decimal = Decimal(5)
      var optionals: [Int?] = [nil, 1]
    }
    let json = try makeEncoder().encode(Everything()).count
    #expect(hasJSON(of: Everything(), upTo: json))
    #expect(!hasJSON(of: Everything(), upTo: json / 2))
    #expect(hasJSON(of: 5, upTo: 1) && hasJSON(of: "", upTo: 2) && !hasJSON(of: "", upTo: 1))
    #expect(!hasJSON(of: [[[Int]]](repeating: [[1]], count: 100), upTo: 99))
  }
}
