import Foundation
import MiniRex
import MiniRexStore
import TestSupport
import Testing

@testable import MiniRexJournal
@testable import journal_keeper

/// A call of `record` on another thread, which encodes the first state until the test ends it.
private final class Beginning: Sendable {
  private let hasBegun = Shared(false)
  private let mayEnd = Gate()
  private let done: Task<Void, Never>
  let recording = Shared<Subscription?>(nil)
  let folder: Folder

  init(_ journal: HookedJournal, _ store: Store<Hooked, HookedAction>, in folder: Folder) {
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
    HookedJournal, Store<Hooked, HookedAction>, Beginning
  ) {
    let folder = try Folder()
    let journal = try HookedJournal(folder.journal, sync: sync)
    let store = Store(Hooked(name), reducer: hooking)
    let beginning = Beginning(journal, store, in: folder)
    await beginning.begun()
    return (journal, store, beginning)
  }

  @Test(arguments: [true, false])
  func `J17 no send waits while a recording encodes its first state`(isDelivering: Bool)
    async throws
  {
    let folder = try Folder()
    let journal = try HookedJournal(folder.journal)
    let store = Store(Hooked("waiting \(isDelivering)"), reducer: hooking)
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
    #expect(try journal.replay(Hooked(""), reducer: hooking) == store.state)
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
      let journal = try HookedJournal(folder.journal)
      let store = Store(Hooked(name), reducer: hooking)
      let recording = journal.record(store)
      for _ in 1...3 { store.send(add(1)) }
      withExtendedLifetime(recording) {}
    }
    let journal = try HookedJournal(folder.journal, keeping: history, sync: policy)
    let store = Store(try journal.replay(Hooked(name), reducer: hooking), reducer: hooking)
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
    #expect(try journal.replay(Hooked(""), reducer: hooking) == store.state)
    #expect(
      try journal.replay(Hooked(""), upTo: journal.lastNumber - 4, reducer: hooking).texts == [
        "199 \(text)"
      ])
    try journal.verify(Hooked(name), reducer: hooking)
    try JournalInspector(folder.journal).read({ _, _ in }, { _ in })
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
    #expect(try journal.replay(Hooked(""), reducer: hooking) == store.state)
    withExtendedLifetime(beginning.recording.value) {}
  }

  @Test func `J15 record compacts a file that the lines of commits during the encoding made due`()
    async throws
  {
    let folder = try Folder()
    let journal = try HookedJournal(folder.journal, keeping: .latestState, sync: .onFlush)
    let store = Store(Hooked("heavy"), reducer: hooking)
    let beginning = Beginning(journal, store, in: folder)
    await beginning.begun()
    let text = String(repeating: "x", count: 10_000)
    for number in 1...150 { store.send(.write("\(number) \(text)")) }
    store.send(.write(""))
    await beginning.end()

    #expect(journal.file.extent.header.first == 151)
    #expect(try folder.bytes().count < 1 << 10)
    store.send(add(1))
    #expect(try journal.replay(Hooked(""), reducer: hooking) == store.state)
    withExtendedLifetime(beginning.recording.value) {}
  }

  @Test func `J17 record writes a snapshot that the commits during the encoding made due`()
    async throws
  {
    let folder = try Folder()
    let journal = try HookedJournal(folder.journal, snapshotEvery: 20, sync: .onFlush)
    let store = Store(Hooked("long"), reducer: hooking)
    let beginning = Beginning(journal, store, in: folder)
    await beginning.begun()
    for _ in 1...30 { store.send(add(1)) }
    await beginning.end()

    await until { (try? folder.lines().last?.contains(#","snapshot":{"#)) == true }
    #expect(try journal.replay(Hooked(""), reducer: hooking) == store.state)
    try journal.verify(Hooked("long"), reducer: hooking)
    withExtendedLifetime(beginning.recording.value) {}
  }

  @Test func `S39 the former recording survives a kill during the encoding of the first state`()
    async throws
  {
    let folder = try Folder()
    let former = Store(Hooked("killed"), reducer: hooking)
    do {
      let journal = try HookedJournal(folder.journal)
      let recording = journal.record(former)
      for _ in 1...3 { former.send(add(1)) }
      try await journal.flush()
      withExtendedLifetime(recording) {}
    }
    let before = try folder.bytes()
    let journal = try HookedJournal(folder.journal)
    let store = Store(Hooked("killed"), reducer: hooking)
    let beginning = Beginning(journal, store, in: folder)
    await beginning.begun()
    store.send(add(10))

    // The file after a kill.
    #expect(try folder.bytes() == before)
    await beginning.end()
    #expect(try journal.replay(Hooked(""), upTo: 3, reducer: hooking) == former.state)
    #expect(try journal.replay(Hooked(""), reducer: hooking) == store.state)
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
    let other = Store(Hooked("writable"), reducer: hooking)
    let recording = journal.record(other)
    other.send(add(1))
    #expect(try journal.replay(Hooked(""), reducer: hooking) == other.state)
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
    #expect(try journal.replay(Hooked(""), reducer: hooking) == store.state)
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
    #expect(try journal.replay(Hooked(""), reducer: hooking) == store.state)
    #expect(beginning.recording.value?.isSubscribed == false && recording.isSubscribed)
  }

  @Test func `S39 the encoding of the first state can send to the store`() throws {
    let folder = try Folder()
    let journal = try HookedJournal(folder.journal)
    let store = Store(Hooked("sending"), reducer: hooking)
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
    #expect(try journal.replay(Hooked(""), upTo: 0, reducer: hooking).total == 0)
    #expect(try journal.replay(Hooked(""), reducer: hooking) == store.state)
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
    let journal = try HookedJournal(folder.journal, sync: policy)
    let store = Store(Hooked("busy"), reducer: hooking)
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
    #expect(try journal.replay(Hooked(""), reducer: hooking) == store.state)
    withExtendedLifetime(recording) {}
  }

  @Test func `J17 the lines that threads send during the writes of record end its writes`() {
    var line = JournalLineWriter()
    line.append(1, .init(), "\"action\"", Data(repeating: 1, count: 1_000))
    /// Returns the sizes of the writes, if the size of the collected lines changes by a factor during each write.
    func sizes(from first: Int, by factor: Double) -> [Int] {
      var (early, size, sizes) = (EarlyLines(), Double(first), [Int]())
      while sizes.count < 20 {
        while early.count < Int(size) { early.add(line, upTo: 1, JournalMarks()) }
        let count = early.count
        guard early.takeMany() != nil else { break }
        sizes.append(count)
        size *= factor
      }
      let last = early.count
      #expect(early.takeAll().count == 1 && early.takeAll().isEmpty && early.count == 0)
      return sizes + [last]
    }
    #expect(sizes(from: 50_000, by: 1).count == 1)
    let shrinking = sizes(from: 4 << 20, by: 0.4)
    #expect(shrinking.count == 6 && shrinking.last ?? .max <= 64 << 10)
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
    #expect(try journal.replay(Hooked(""), reducer: hooking) == store.state)
    try journal.verify(Hooked("vouching"), reducer: hooking)
    withExtendedLifetime(beginning.recording.value) {}
  }
}
