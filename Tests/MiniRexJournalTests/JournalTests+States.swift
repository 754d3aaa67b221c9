import Foundation
import MiniRex
import MiniRexStore
import TestSupport
import Testing

@testable import MiniRexJournal
@testable import journal_keeper

/// More than a state that is encoded on the delivering thread.
private let largeText = String(repeating: "x", count: 20_000)

/// A call on another thread, during which the next large state is encoded until the test ends the encoding.
private final class Encoding: Sendable {
  private let hasBegun = Shared(false)
  private let mayEnd = Gate()
  private let call: Task<Void, Never>
  let hasReturned = Shared(false)

  init(of name: String, during body: @escaping @Sendable () -> Void) {
    lateHooks.change { [hasBegun, mayEnd] hooks in
      hooks[name] = {
        hasBegun.value = true
        mayEnd.wait()
      }
    }
    call = Task.detached { [hasReturned] in
      await onQueue { body() }
      hasReturned.value = true
    }
  }

  func begun() async { await until { hasBegun.value || hasReturned.value } }

  func end() async {
    mayEnd.open()
    await call.value
  }
}

/// A recorded store with a large state, and its history.
private final class Scene: Sendable {
  let folder: Folder
  let journal: HookedJournal
  let store: Store<Hooked, HookedAction>
  let history: History
  let name: String
  let recording: Subscription

  init(
    _ name: String, sync: JournalSyncPolicy = .onFlush, keeping span: JournalHistory = .everything
  )
    throws
  {
    self.name = name
    folder = try Folder()
    journal = try HookedJournal(folder.journal, keeping: span, sync: sync)
    var state = Hooked(name)
    state.texts = [largeText]
    store = Store(state, reducer: hooking)
    recording = journal.record(store)
    history = History(of: store)
  }

  /// Undoes on another thread, and returns while the restored state is encoded.
  func undo() async -> Encoding {
    let encoding = Encoding(of: name) { [history] in history.undo() }
    await encoding.begun()
    return encoding
  }

  func expectComplete(
    _ count: Int, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    #expect(journal.problem == nil && journal.lastNumber == count, sourceLocation: sourceLocation)
    #expect(
      try journal.replay(Hooked(""), reducer: hooking) == store.state,
      sourceLocation: sourceLocation)
    try journal.verify(Hooked(""), reducer: hooking)
    try JournalInspector(folder.journal).read({ _, _ in }, { _ in })
  }
}

extension JournalTests {
  @Test(arguments: [JournalSyncPolicy.onFlush, .every(.milliseconds(1))])
  func `J17 no subscriber and no send waits while the state of an undo is encoded`(
    policy: JournalSyncPolicy
  )
    async throws
  {
    let scene = try Scene("beside \(policy)", sync: policy)
    let causes = Shared<[String]>([])
    let watching = scene.store.events.subscribe { event in
      if let commit = event.commit { causes.append("\(commit.cause)") }
    }
    scene.store.send(add(1))
    let before = try scene.folder.bytes()
    let encoding = await scene.undo()

    #expect(causes.value.last == "restored")
    scene.store.send(add(5))
    #expect(causes.value.count == 3 && scene.store.total == 5)
    // The undo returns when the system has its line.
    #expect(!encoding.hasReturned.value)
    #expect(try scene.folder.bytes() == before)

    await encoding.end()
    try scene.expectComplete(3)
    withExtendedLifetime(watching) {}
  }

  @Test func `J17 an undo of a large state returns when its line is in the file`() throws {
    let scene = try Scene("returned")
    for number in 1...20 {
      scene.store.send(.write("\(number) \(largeText)"))
      scene.history.undo()
      #expect(scene.journal.lastNumber == 3 * number - 1)
      #expect(try scene.folder.lines().last?.contains(#","cause":"restored","state":{"#) == true)
      scene.history.redo()
      #expect(scene.journal.lastNumber == 3 * number)
    }
    try scene.expectComplete(60)
    for number in [0, 1, 2, 30, 59] {
      let state = try scene.journal.replay(Hooked(""), upTo: number, reducer: hooking)
      let step = (number + 2) / 3
      let text = number % 3 == 2 || number == 0 ? step - 1 : step
      #expect(state.texts[0].hasPrefix(text > 0 ? "\(text) " : "x"))
    }
  }

  @Test func `J17 lines beside the encodings of several states keep the order of commits`()
    async throws
  {
    let scene = try Scene("several", keeping: .last(commits: 10))
    for number in 1...4 { scene.store.send(add(number)) }
    let encoding = await scene.undo()
    let others = (0..<3).map { _ in
      Task.detached { await onQueue { scene.history.undo() } }
    }
    await until { scene.store.total == 0 }
    scene.store.send(add(7))
    #expect(scene.journal.lastNumber == 4)

    await encoding.end()
    for other in others { await other.value }
    scene.store.send(add(1))
    try scene.expectComplete(10)
    let totals = try (0...10).map {
      try scene.journal.replay(Hooked(""), upTo: $0, reducer: hooking).total
    }
    #expect(totals == [0, 1, 3, 6, 10, 6, 3, 1, 0, 7, 8])
  }

  @Test func `S39 a kill during the encoding of an undo loses the undo and later commits only`()
    async throws
  {
    let scene = try Scene("killed undo")
    for number in 1...3 { scene.store.send(add(number)) }
    let encoding = await scene.undo()
    scene.store.send(add(10))

    // The file after a kill.
    let copy = try Folder()
    try FileManager.default.copyItem(at: scene.folder.journal, to: copy.journal)
    let journal = try HookedJournal(copy.journal)
    let killed = Store(try journal.replay(Hooked(""), reducer: hooking), reducer: hooking)
    #expect(journal.lastNumber == 3 && killed.total == 6)
    let recording = journal.record(killed)
    killed.send(add(1))
    #expect(try journal.replay(Hooked(""), reducer: hooking) == killed.state)

    await encoding.end()
    try scene.expectComplete(5)
    withExtendedLifetime(recording) {}
  }

  @Test func `J11 flushes and durable sends wait for the state of an undo`() async throws {
    let scene = try Scene("flushed")
    scene.store.send(add(1))
    let encoding = await scene.undo()
    let done = Shared(0)
    let flushing = Task {
      try await scene.journal.flush()
      done.increment()
    }
    let sending = Task {
      try await scene.store.send(add(2), in: scene.journal)
      done.increment()
    }
    await until { scene.store.total == 2 }
    #expect(done.value == 0)

    await encoding.end()
    try await flushing.value
    try await sending.value
    #expect(scene.journal.status.current()?.durableNumber == 3)
    try scene.expectComplete(3)
  }

  @Test func `J16 compact waits for the state of an undo`() async throws {
    let scene = try Scene("compacted")
    scene.store.send(add(1))
    let encoding = await scene.undo()
    let compacting = Task { try await scene.journal.compact() }
    await until { scene.journal.recording.withLock { $0 }?.isCompactionRequested == true }
    await encoding.end()
    try await compacting.value

    #expect(scene.journal.file.extent.header.first == 2)
    try scene.expectComplete(2)
  }

  @Test func `J15 a file with the states of undos is compacted`() async throws {
    let scene = try Scene("weighing", keeping: .latestState)
    scene.store.send(add(1))
    for _ in 1...60 {
      scene.history.undo()
      scene.history.redo()
    }
    await until { scene.journal.status.current()?.compaction == .idle }
    await until { scene.journal.file.extent.header.first > 0 }
    #expect(try scene.folder.bytes().count < 1 << 20 + 1 << 19)
    try scene.expectComplete(121)
  }

  @Test
  func `J12 with everyCommit, subscribers receive the undo of a large state when it is durable`()
    throws
  {
    let scene = try Scene("durable undo", sync: .everyCommit)
    let seen = Shared<[Int]>([])
    let watching = scene.store.events.subscribe { [journal = scene.journal] event in
      guard event.commit != nil else { return }
      seen.append(journal.status.current()?.durableNumber ?? -1)
    }
    scene.store.send(add(1))
    scene.history.undo()
    #expect(seen.value == [1, 2])
    try scene.expectComplete(2)
    withExtendedLifetime(watching) {}
  }

  @Test func `S39 a callback that undoes a large state waits for nothing`() async throws {
    let scene = try Scene("re-entrant undo")
    let depth = Shared(0)
    let undoing = scene.store.events.subscribe { [history = scene.history] event in
      if event.action != nil, depth.increment() < 5 { history.undo() }
    }
    for _ in 1...3 { scene.store.send(add(1)) }
    try await scene.journal.flush()
    try scene.expectComplete(6)
    withExtendedLifetime(undoing) {}
  }

  @Test func `S39 the encoding of an undo can send and undo`() async throws {
    let scene = try Scene("encoding undo")
    scene.store.send(add(1))
    scene.store.send(add(2))
    lateHooks.change { hooks in
      hooks[scene.name] = { [store = scene.store, history = scene.history] in
        store.send(add(4))
        history.undo()
      }
    }
    scene.history.undo()
    try await scene.journal.flush()
    try scene.expectComplete(5)
  }

  @Test func `S39 commits before the end of a recording are written beside another recording`()
    async throws
  {
    let scene = try Scene("ended")
    scene.store.send(add(1))
    let encoding = await scene.undo()
    scene.store.send(add(5))
    scene.recording.invalidate()
    scene.store.send(add(100))
    let other = Store(Hooked("other"), reducer: hooking)
    let recording = Shared<Subscription?>(nil)
    let beginning = Task.detached {
      await onQueue { recording.value = scene.journal.record(other) }
    }
    await encoding.end()
    await beginning.value
    other.send(add(1))

    let before = try scene.journal.replay(Hooked(""), upTo: 3, reducer: hooking)
    #expect(before.total == 5)
    #expect(try scene.journal.replay(Hooked(""), reducer: hooking) == other.state)
    withExtendedLifetime(recording.value) {}
  }

  @Test func `S39 a restored state that cannot be encoded ends the recording and the wait`()
    async throws
  {
    let folder = try Folder()
    let journal = try Journal<Hooked, Never>(folder.journal)
    let store = Store(Hooked("plain"))
    let recording = journal.record(store)
    store.commit {
      $0.name = "unwritable"
      $0.texts = [largeText]
    }
    store.commit { $0.total = 1 }
    await #expect(throws: JournalFailure.self) { try await journal.flush() }
    guard case .unwritable(number: 1, _)? = journal.problem else {
      Issue.record("\(journal.problem as Any)")
      return
    }
    #expect(!recording.isSubscribed && journal.lastNumber == 0)
    store.commit { $0.name = "plain" }
    let again = journal.record(store)
    store.commit { $0.total = 2 }
    #expect(try journal.replay(Hooked(""), reducer: ignoring) == store.state)
    withExtendedLifetime(again) {}
  }

  private enum Change: CaseIterable, Sendable { case commit, assignment, scope, member }

  @Test(arguments: Change.allCases)
  private func `J17 no subscriber waits while the state of a change in place is encoded`(
    change: Change
  ) async throws {
    let folder = try Folder()
    let journal = try Journal<Pair, Never>(folder.journal)
    let name = "plain \(change)"
    var state = Pair(held: Hooked(name))
    state.held.texts = [largeText]
    let store = Store(state)
    let recording = journal.record(store)
    let totals = Shared<[Int]>([])
    let watching = store.publisher(of: \.held.total).dropFirst().subscribe { totals.append($0) }
    let scope = store.scope(\.held)
    let change = { @Sendable (total: Int) in
      switch change {
      case .commit: store.commit { $0.held.total = total }
      case .assignment: store.held.total = total
      case .scope: scope.commit { $0.total = total }
      case .member: scope.total = total
      }
    }
    let encoding = Encoding(of: name) { change(1) }
    await encoding.begun()
    let other = Task.detached { await onQueue { change(2) } }
    await until { totals.value.count == 2 }

    #expect(totals.value == [1, 2] && journal.lastNumber == 0)
    #expect(!encoding.hasReturned.value)
    await encoding.end()
    await other.value
    #expect(journal.lastNumber == 2)
    #expect(try journal.replay(Pair(held: Hooked("")), upTo: 1, reducer: ignoring).held.total == 1)
    #expect(try journal.replay(Pair(held: Hooked("")), reducer: ignoring) == store.state)
    withExtendedLifetime((recording, watching)) {}
  }

  @Test(arguments: [JournalSyncPolicy.everyCommit, .every(.milliseconds(1)), .onFlush])
  func `J17 threads that send and undo large states write each commit once`(
    policy: JournalSyncPolicy
  ) async throws {
    let scene = try Scene("busy \(policy)", sync: policy, keeping: .last(commits: 50))
    let rounds = max(5, scaled(40))
    await onQueue {
      onThreads(4) { [store = scene.store, history = scene.history] thread in
        for number in 1...rounds {
          switch thread {
          case 0: history.undo()
          case 1: history.redo()
          default: store.send(number % 9 == 0 ? .write("\(number) \(largeText)") : add(1))
          }
        }
      }
    }
    try await scene.journal.flush()
    try scene.expectComplete(scene.journal.lastNumber)
    #expect(scene.journal.lastNumber == scene.store.lastNumber)
  }
}

private struct Pair: Codable, Sendable, Equatable {
  var held: Hooked
}
