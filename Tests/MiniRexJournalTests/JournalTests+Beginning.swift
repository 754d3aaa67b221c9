import Foundation
import MiniRex
import MiniRexStore
import TestSupport
import Testing

@testable import MiniRexJournal
@testable import journal_keeper

/// Closures that the next encoding of a state calls, by the name in the state.
private let hooks = Shared<[String: @Sendable () -> Void]>([:])

/// A state whose encoding can call the test.
private struct Held: Codable, Sendable, Equatable {
  var name: String
  var total = 0
  var texts: [String] = []

  init(_ name: String) { self.name = name }

  func encode(to encoder: any Encoder) throws {
    hooks.change { $0.removeValue(forKey: name) }?()
    if name == "unwritable" {
      let context = EncodingError.Context(codingPath: [], debugDescription: "It has no form.")
      throw EncodingError.invalidValue(self, context)
    }
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(name, forKey: .name)
    try container.encode(total, forKey: .total)
    try container.encode(texts, forKey: .texts)
  }
}

private enum HeldAction: Codable, Sendable {
  case add(Stubborn)
  case write(String)
}

private func add(_ amount: Int) -> HeldAction { .add(Stubborn(amount: amount)) }

private let holding: Reducer<Held, HeldAction> = { state, action in
  switch action {
  case .add(let amount): state.total += amount.amount
  case .write(let text): state.texts = [text]
  }
  return .none
}

private typealias HeldJournal = Journal<Held, HeldAction>

/// A call of `record` on another thread, which encodes the first state until the test ends it.
private final class Beginning: Sendable {
  private let hasBegun = Shared(false)
  private let mayEnd = Gate()
  private let done: Task<Void, Never>
  let recording = Shared<Subscription?>(nil)
  let folder: Folder

  init(_ journal: HeldJournal, _ store: Store<Held, HeldAction>, in folder: Folder) {
    self.folder = folder
    hooks.change { [hasBegun, mayEnd] hooks in
      hooks[store.name] = {
        hasBegun.value = true
        mayEnd.wait()
      }
    }
    done = Task.detached { [recording] in
      await onQueue { recording.value = journal.record(store) }
    }
  }

  /// Returns when the state is being encoded, or when `record` has returned.
  func begun() async { await until { hasBegun.value || recording.value != nil } }

  func end() async {
    mayEnd.open()
    await done.finished()
  }
}

extension JournalTests {
  /// Begins a recording, and returns while its first state is being encoded.
  private func begin(_ name: String, sync: JournalSyncPolicy = .onFlush) async throws -> (
    HeldJournal, Store<Held, HeldAction>, Beginning
  ) {
    let folder = try Folder()
    let journal = try HeldJournal(folder.journal, sync: sync)
    let store = Store(Held(name), reducer: holding)
    let beginning = Beginning(journal, store, in: folder)
    await beginning.begun()
    return (journal, store, beginning)
  }

  @Test(arguments: [true, false])
  func `J17 no send waits while a recording encodes its first state`(isDelivering: Bool)
    async throws
  {
    let folder = try Folder()
    let journal = try HeldJournal(folder.journal)
    let store = Store(Held("waiting \(isDelivering)"), reducer: holding)
    let (isInside, mayLeave, count, hasSent) = (Gate(), Gate(), Shared(0), Shared(false))
    let watching = store.events.subscribe { _ in
      if count.increment() == 1, isDelivering {
        isInside.open()
        mayLeave.wait()
      }
    }
    let sending = Task.detached {
      await onQueue {
        if isDelivering { store.send(add(1)) }
        hasSent.value = true
      }
    }
    if isDelivering { await onQueue { isInside.wait() } }
    let beginning = Beginning(journal, store, in: folder)
    await beginning.begun()

    mayLeave.open()
    await until { hasSent.value }
    store.send(add(1))
    // The subscribers do not wait either.
    #expect(count.value == store.total && journal.lastNumber == 0)
    #expect(try folder.bytes().isEmpty)

    await beginning.end()
    await sending.finished()
    try await journal.flush()
    #expect(journal.lastNumber == 1)
    #expect(try journal.replay(Held(""), reducer: holding) == store.state)
    withExtendedLifetime((watching, beginning.recording.value)) {}
  }

  private static let beginnings: [(JournalHistory, JournalSyncPolicy, isContinued: Bool)] = [
    (.everything, .everyCommit, false), (.everything, .every(.milliseconds(1)), true),
    (.latestState, .onFlush, true), (.latestState, .everyCommit, true),
    (.last(commits: 10), .onFlush, false),
  ]

  @Test(arguments: beginnings)
  func `J17 the lines of commits during the encoding follow the first line`(
    history: JournalHistory, policy: JournalSyncPolicy, isContinued: Bool
  ) async throws {
    let folder = try Folder()
    let name = "following \(history) \(policy) \(isContinued)"
    if isContinued {
      let journal = try HeldJournal(folder.journal)
      let store = Store(Held(name), reducer: holding)
      let recording = journal.record(store)
      for _ in 1...3 { store.send(add(1)) }
      withExtendedLifetime(recording) {}
    }
    let journal = try HeldJournal(folder.journal, keeping: history, sync: policy)
    let store = Store(try journal.replay(Held(name), reducer: holding), reducer: holding)
    let beginning = Beginning(journal, store, in: folder)
    await beginning.begun()

    let history = History(of: store, limit: 1)
    // More than the last write.
    let text = String(repeating: "x", count: 1_000)
    for number in 1...200 {
      store.send(add(number))
      store.send(.write("\(number) \(text)"))
    }
    history.undo()
    store.send(add(1))
    let flushing = Task { try await journal.flush() }
    await beginning.end()
    try await flushing.finished()
    #expect(journal.status.current()?.durableNumber == (isContinued ? 405 : 402))
    store.send(add(1))

    #expect(journal.lastNumber == (isContinued ? 406 : 403))
    #expect(try journal.replay(Held(""), reducer: holding) == store.state)
    #expect(
      try journal.replay(Held(""), upTo: journal.lastNumber - 4, reducer: holding).texts == [
        "199 \(text)"
      ])
    try journal.verify(Held(name), reducer: holding)
    try JournalInspector(folder.journal).read({ _, _ in }, { _ in })
    withExtendedLifetime(beginning.recording.value) {}
  }

  @Test(arguments: [true, false])
  func `J17 a send copies no state that is already encoded`(isCompaction: Bool) async throws {
    let folder = try Folder()
    let text = String(repeating: "x", count: 1_000)
    let journal = try Journal<Board, BoardAction>(folder.journal, sync: .everyCommit)
    // More than a state that the caller of a compaction encodes.
    let store = Store(Board(issues: Array(repeating: text, count: 100))) {
      (state: inout Board, action: BoardAction) in
      if case .opened(let title) = action { state.issues[0] = title }
      return .none
    }
    let places = Shared<[Int]>([])
    let place = { @Sendable in
      unsafe store.state.issues.withUnsafeBufferPointer { Int(bitPattern: $0.baseAddress) }
    }
    let watching = journal.status.subscribe { status in
      let isWritten = isCompaction ? status.segments == 1 : status.fileBytes > 0
      guard isWritten, places.value.isEmpty else { return }
      places.append(place())
      store.send(.opened("next"))
      places.append(place())
    }

    let recording = journal.record(store)
    if isCompaction {
      store.send(.opened("first"))
      try await journal.compact()
    }

    #expect(places.value.count == 2 && Set(places.value).count == 1)
    withExtendedLifetime((watching, recording)) {}
  }

  @Test func `J17 a snapshot that is due after the encoding needs no further commit`() async throws
  {
    let folder = try Folder()
    let journal = try HeldJournal(folder.journal, snapshotEvery: 3, sync: .onFlush)
    let store = Store(Held("due snapshot"), reducer: holding)
    let beginning = Beginning(journal, store, in: folder)
    await beginning.begun()
    for _ in 1...3 { store.send(add(1)) }
    await beginning.end()

    await until { (try? folder.lines().last?.contains(#""number":3,"snapshot""#)) == true }
    store.send(add(1))
    #expect(try journal.replay(Held(""), reducer: holding) == store.state)
    // The next commit can write another snapshot, because its thread has not read the end of the file since.
    #expect(try journal.verify(Held("due snapshot"), reducer: holding).statesCompared >= 1)
    withExtendedLifetime(beginning.recording.value) {}
  }

  @Test func `J15 a compaction that is due after the encoding needs no further commit`()
    async throws
  {
    let folder = try Folder()
    let journal = try HeldJournal(folder.journal, keeping: .latestState, sync: .onFlush)
    let store = Store(Held("due compaction"), reducer: holding)
    let beginning = Beginning(journal, store, in: folder)
    await beginning.begun()
    let text = String(repeating: "x", count: 200_000)
    for number in 1...6 { store.send(.write("\(number) \(text)")) }
    await beginning.end()

    await until { (journal.status.current()?.fileBytes ?? .max) < 500_000 }
    store.send(add(1))
    #expect(try folder.lines()[0].contains(#""segment":2,"first":6,"#))
    #expect(try journal.replay(Held(""), reducer: holding) == store.state)
    withExtendedLifetime(beginning.recording.value) {}
  }

  @Test func `J12 with everyCommit, the commits during the encoding are durable after record`()
    async throws
  {
    let (journal, store, beginning) = try await begin("durable", sync: .everyCommit)
    for _ in 1...3 { store.send(add(1)) }
    #expect(journal.syncCount == 0)
    await beginning.end()

    #expect(journal.status.current()?.durableNumber == 3)
    // The first line, and the lines of all commits together.
    #expect(journal.syncCount == 2)
    withExtendedLifetime(beginning.recording.value) {}
  }

  @Test func `J11 a durable send waits for the first line of a recording`() async throws {
    let (journal, store, beginning) = try await begin("durable send")
    let isDurable = Shared(false)
    let sending = Task {
      try await store.send(add(1), in: journal)
      isDurable.value = true
    }
    await until { store.total == 1 }
    #expect(!isDurable.value && journal.lastNumber == 0)
    await beginning.end()
    try await sending.finished()

    #expect(journal.status.current()?.durableNumber == 1)
    withExtendedLifetime(beginning.recording.value) {}
  }

  @Test func `J16 compact waits for commits during the encoding of the first state`() async throws {
    let (journal, store, beginning) = try await begin("compacting")
    store.send(add(1))
    let compacting = Task { try await journal.compact() }
    await until { journal.recording.withLock { $0 }?.isCompactionRequested == true }
    await beginning.end()
    try await compacting.finished()

    #expect(journal.file.extent.header.first == 1)
    #expect(try journal.replay(Held(""), reducer: holding) == store.state)
    withExtendedLifetime(beginning.recording.value) {}
  }

  @Test func `S39 the former recording survives a kill during the encoding of the first state`()
    async throws
  {
    let folder = try Folder()
    let former = Store(Held("killed"), reducer: holding)
    do {
      let journal = try HeldJournal(folder.journal)
      let recording = journal.record(former)
      for _ in 1...3 { former.send(add(1)) }
      try await journal.flush()
      withExtendedLifetime(recording) {}
    }
    let before = try folder.bytes()
    let journal = try HeldJournal(folder.journal)
    let store = Store(Held("killed"), reducer: holding)
    let beginning = Beginning(journal, store, in: folder)
    await beginning.begun()
    store.send(add(10))

    // The file after a kill.
    #expect(try folder.bytes() == before)
    await beginning.end()
    #expect(try journal.replay(Held(""), upTo: 3, reducer: holding) == former.state)
    #expect(try journal.replay(Held(""), reducer: holding) == store.state)
    withExtendedLifetime(beginning.recording.value) {}
  }

  @Test func `S39 a first state that cannot be encoded ends the recording, with commits beside it`()
    async throws
  {
    let (journal, store, beginning) = try await begin("unwritable")
    store.send(add(1))
    let flushing = Task { try await journal.flush() }
    await beginning.end()

    await #expect(throws: JournalFailure.self) { try await flushing.finished() }
    guard case .unwritable(number: 0, _)? = journal.problem else {
      Issue.record("\(journal.problem as Any)")
      return
    }
    #expect(beginning.recording.value?.isSubscribed == false)
    #expect(try beginning.folder.bytes().isEmpty)
    let other = Store(Held("writable"), reducer: holding)
    let recording = journal.record(other)
    other.send(add(1))
    #expect(try journal.replay(Held(""), reducer: holding) == other.state)
    withExtendedLifetime(recording) {}
  }

  @Test func `S39 an action that cannot be encoded beside the first state ends the recording`()
    async throws
  {
    let (journal, store, beginning) = try await begin("unwritable action")
    store.send(add(1))
    store.send(add(-1))
    store.send(add(1))
    #expect(journal.problem != nil)
    await beginning.end()

    #expect(beginning.recording.value?.isSubscribed == false)
    #expect(try beginning.folder.bytes().isEmpty && store.total == 1)
    let recording = journal.record(store)
    store.send(add(1))
    #expect(try journal.replay(Held(""), reducer: holding) == store.state)
    #expect(journal.problem == nil && journal.lastNumber == 1)
    withExtendedLifetime(recording) {}
  }

  @Test func `S39 another recording can begin after a failure beside the first state`() async throws
  {
    let (journal, store, beginning) = try await begin("overtaken")
    store.send(add(-1))
    let recording = journal.record(store)
    store.send(add(5))
    await beginning.end()
    store.send(add(5))

    #expect(try beginning.folder.lines().count == 4)
    #expect(try journal.replay(Held(""), reducer: holding) == store.state)
    #expect(beginning.recording.value?.isSubscribed == false && recording.isSubscribed)
  }

  @Test func `S39 the encoding of the first state can send to the store`() throws {
    let folder = try Folder()
    let journal = try HeldJournal(folder.journal)
    let store = Store(Held("sending"), reducer: holding)
    let answering = store.events.subscribe { event in
      if case .write? = event.action { store.send(add(1)) }
    }
    hooks.change { hooks in
      hooks["sending"] = {
        store.send(add(1))
        store.send(.write("re-entrant"))
      }
    }
    let recording = journal.record(store)
    #expect(journal.lastNumber == 3 && store.total == 2)
    store.send(add(1))
    #expect(try journal.replay(Held(""), upTo: 0, reducer: holding).total == 0)
    #expect(try journal.replay(Held(""), reducer: holding) == store.state)
    withExtendedLifetime((answering, recording)) {}
  }

  @Test(arguments: [JournalSyncPolicy.everyCommit, .every(.milliseconds(1)), .onFlush])
  func `J17 a recording that begins during sends writes each later commit once`(
    policy: JournalSyncPolicy
  ) async throws {
    let folder = try Folder()
    let journal = try LedgerJournal(folder, every: 10, sync: policy)
    let store = Store(Ledger(), reducer: keeping)
    let sends = 100
    for round in 0..<max(5, scaled(50)) {
      let recording = Shared<Subscription?>(nil)
      await onQueue {
        onThreads(3) { thread in
          if thread == 2 {
            recording.value = journal.record(store)
            return
          }
          for number in 1...sends { store.send(.thread(thread, round * sends + number)) }
        }
      }
      try await journal.flush()
      #expect(journal.problem == nil)
      #expect(try journal.replay() == store.state)
      recording.value?.invalidate()
    }
    #expect(store.gaps == 0)
    try journal.verify()
  }

  @Test(arguments: [JournalSyncPolicy.everyCommit, .onFlush])
  func `J17 record returns while another thread sends without a pause`(policy: JournalSyncPolicy)
    async throws
  {
    let folder = try Folder()
    let journal = try HeldJournal(folder.journal, sync: policy)
    let store = Store(Held("busy"), reducer: holding)
    let (limit, isOver) = (200_000, Shared(false))
    let sending = Task.detached {
      await onQueue {
        for _ in 1...limit where !isOver.value { store.send(add(1)) }
      }
    }
    await until { store.total > 0 }
    let recording = journal.record(store)
    isOver.value = true
    await sending.finished()

    #expect(store.total < limit)
    #expect(try journal.replay(Held(""), reducer: holding) == store.state)
    withExtendedLifetime(recording) {}
  }

  @Test func `J17 the lines that threads send during the writes of record end its writes`() {
    var line = JournalLineWriter()
    line.append(1, .init(), "\"action\"", Data(repeating: 1, count: 1_000))
    /// Returns the sizes of the writes, if the size of the collected lines changes by a factor during each write.
    func sizes(from first: Int, by factor: Double) -> [Int] {
      var (early, size, sizes) = (EarlyLines(marks: JournalMarks()), Double(first), [Int]())
      while sizes.count < 20 {
        while early.lines.bytes.count < Int(size) { early.add(line, upTo: 1, JournalMarks()) }
        guard let lines = early.takeMany() else { break }
        sizes.append(lines.lines.bytes.count)
        size *= factor
      }
      let last = early.takeAll()
      #expect(early.takeAll()?.number == nil)
      return sizes + [last?.lines.bytes.count ?? 0]
    }
    #expect(sizes(from: 50_000, by: 1).count == 1)
    let shrinking = sizes(from: 4 << 20, by: 0.4)
    #expect(shrinking.count == 6 && shrinking.last ?? 0 <= 64 << 10)
    // The disk takes lines more slowly than threads send them.
    for factor in [0.9, 1, 1.2] { #expect(sizes(from: 1 << 20, by: factor).count <= 5) }
  }

  @Test func `J8 a line vouches for the first line, before commits during its encoding`()
    async throws
  {
    let (journal, store, beginning) = try await begin("vouching", sync: .everyCommit)
    for _ in 1...3 { store.send(add(1)) }
    await beginning.end()
    store.send(add(1))

    let marks = try beginning.folder.lines().map { line in
      line.firstMatch(of: /"synced":([0-9]+)/).map { String($0.1) }
    }
    // The header, the state, its mark, and the commits.
    #expect(marks == [nil, nil, "0", nil, nil, nil, "3"])
    #expect(try journal.replay(Held(""), reducer: holding) == store.state)
    try journal.verify(Held("vouching"), reducer: holding)
    withExtendedLifetime(beginning.recording.value) {}
  }
}
