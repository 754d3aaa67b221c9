import MiniRex
import MiniRexStore
import MiniRexTesting
import Synchronization
import TestSupport
import Testing

/// An action that carries its effect.
private struct Ask: Sendable {
  var number = 0
  var effect: @Sendable () -> Effect<Ask> = { .none }

  init(_ number: Int = 0, _ effect: @escaping @Sendable () -> Effect<Ask> = { .none }) {
    self.number = number
    self.effect = effect
  }
}

private func askStore() -> Store<[Int], Ask> {
  Store([]) { (state: inout [Int], action: Ask) in
    state.append(action.number)
    return action.effect()
  }
}

private enum Name { @TaskLocal static var current = "" }
private enum One: Hashable, Sendable { case load }
private enum Other: Hashable, Sendable { case load }
private struct Oops: Error, Equatable { var number = 0 }

/// An effect that runs until it is canceled, and counts its starts and ends.
private func hanging(_ started: Shared<Int> = Shared(0), _ ended: Shared<Int> = Shared(0))
  -> Effect<Ask>
{
  .run { _ in
    started.increment()
    defer { ended.increment() }
    try await Task.sleep(for: .seconds(600))
  }
}

extension StoreContractTests {
  @Test func `S23 merge runs effects concurrently, concatenate runs them in sequence`() async throws
  {
    let store = askStore()
    let source = BroadcastSource<Ask>()

    store.send(Ask(1) { .none })
    store.send(Ask(2) { .send(Ask(3)) })
    let name = Shared("")
    try await Name.$current.withValue("sender") {
      try await store.send(
        Ask(4) {
          .run { send in
            name.value = Name.current
            send(Ask(5))
          }
        }
      ).finished()
    }
    let following = store.send(Ask(6) { .publisher { source.publisher } })
    source.broadcast(Ask(7))
    source.broadcast(Ask(8))
    #expect(!following.isFinished)
    source.end()
    try await following.finished()
    source.broadcast(Ask(9))

    #expect(name.value == "sender")
    #expect(store.state == [1, 2, 3, 4, 5, 6, 7, 8])
  }

  @Test func `S23 merged effects overlap, and concatenated effects do not`() async throws {
    let store = askStore()
    let first = BroadcastSource<Ask>()
    let second = BroadcastSource<Ask>()

    let merged = store.send(
      Ask(1) { .merge(.publisher { first.publisher }, .publisher { second.publisher }) })
    #expect(store.effectCount == 2)
    merged.cancel()

    let task = store.send(
      Ask(2) {
        .concatenate(
          .send(Ask(3)), .publisher { first.publisher }, .none, .concatenate(.send(Ask(4))),
          .run { send in send(Ask(5)) },
          .merge(.publisher { second.publisher }, .send(Ask(6))), .send(Ask(7)))
      })
    #expect(store.state == [1, 2, 3])
    #expect(store.effectCount == 1)
    first.end()
    await until { store.state.contains(6) }
    #expect(store.state == [1, 2, 3, 4, 5, 6])
    second.broadcast(Ask(8))
    second.end()
    try await task.finished()

    #expect(store.state == [1, 2, 3, 4, 5, 6, 8, 7])
    #expect(store.hasForgottenEffects)
  }

  @Test func `S23 a member that throws or is canceled stops a concatenation`() async {
    let store = askStore()

    let failing = store.send(
      Ask(1) { .concatenate(.run { _ in throw Oops() }, .send(Ask(2))) })
    let cancelled = store.send(
      Ask(3) { .concatenate(hanging().cancellable(id: 1), .send(Ask(4))) })
    store.send(Ask(5) { .cancel(id: 1) })

    await #expect(throws: Oops.self) { try await failing.finished() }
    await #expect(throws: CancellationError.self) { try await cancelled.finished() }
    #expect(store.state == [1, 3, 5])
    #expect(store.hasForgottenEffects)
  }

  @Test func `S24 effect ids are compared by type and value`() async {
    let store = askStore()
    let ids: [any Hashable & Sendable] = [1, 1.0, "1", One.load, Other.load]
    func effect(_ id: some Hashable & Sendable) -> @Sendable () -> Effect<Ask> {
      { Effect.publisher { Broadcaster.never }.cancellable(id: id) }
    }
    for id in ids { store.send(Ask(0, effect(id))) }
    store.send(Ask { .publisher { Broadcaster.never } })

    for (index, id) in ids.enumerated() {
      func cancel(_ id: some Hashable & Sendable) -> @Sendable () -> Effect<Ask> {
        { .cancel(id: id) }
      }
      for _ in 0..<2 { store.send(Ask(0, cancel(id))) }
      #expect(store.effectCount == ids.count - index)
    }
  }

  @Test func `S24 cancelInFlight cancels earlier effects, never its own members`() {
    let store = askStore()
    let events = Recorder(store.events)
    func search(_ number: Int) -> Ask {
      Ask(number) {
        .merge(.publisher { Broadcaster.never }, .publisher { Broadcaster.never })
          .cancellable(id: "search", cancelInFlight: true)
      }
    }

    for number in 1...3 { store.send(search(number)) }

    #expect(store.effectCount == 2)
    let ended = events.updates.compactMap { event -> Int? in
      if case .ended(let run, .cancelled, _) = event { run.commit } else { nil }
    }
    #expect(ended == [1, 1, 2, 2])
  }

  @Test func `S24 of two searches, the search with the larger number survives`() {
    for _ in 0..<scaled(100) {
      let store = askStore()
      let living = Shared<Set<Int>>([])
      let last = Recorder(store.events.compactMap { $0.commit?.number })
      let tokens = store.events.subscribe { event in
        switch event {
        case .began(let run): living.change { $0.formUnion([run.commit]) }
        case .ended(let run, _, _): living.change { $0.subtract([run.commit]) }
        default: break
        }
      }
      onThreads(4) { _ in
        for _ in 0..<5 {
          store.send(
            Ask {
              .publisher { Broadcaster.never }.cancellable(id: 1, cancelInFlight: true)
            })
        }
      }

      #expect(living.value == [20])
      #expect(last.updates == Array(1...20))
      #expect(store.effectCount == 1)
      withExtendedLifetime(tokens) {}
    }
  }

  @Test func `S25 a canceled effect's actions are dropped, even if it ignores cancellation`() async
  {
    let store = askStore()
    let events = Recorder(store.events)
    let mayGo = Shared(false)
    let source = BroadcastSource<Ask>()
    let sent = Shared(false)
    let task = store.send(
      Ask(1) {
        .merge(
          .run { send in
            // `until` would return after the cancellation.
            while !mayGo.value { await Task.yield() }
            send(Ask(100))
            sent.value = true
          },
          .publisher { source.publisher })
      })
    await until { events.updates.count == 3 }

    task.cancel()
    source.broadcast(Ask(101))
    #expect(store.effectCount == 1)
    #expect(!task.isFinished)
    mayGo.value = true

    await #expect(throws: CancellationError.self) { try await task.finished() }
    #expect(sent.value)
    #expect(store.state == [1])
    #expect(store.effectCount == 0)
    task.cancel()
  }

  @Test func `S25 an effect canceled before its start never runs or reports`() async {
    let store = askStore()
    let ran = Shared(0)
    let events = Recorder(store.events)
    let body = Effect<Ask>.publisher {
      ran.increment()
      return Broadcaster.never
    }
    .cancellable(id: 1)

    let task = store.send(Ask { .merge(body, .send(Ask(1) { .cancel(id: 1) })) })

    #expect(ran.value == 0)
    #expect(events.updates.count == 2)
    #expect(store.effectCount == 0)
    await #expect(throws: CancellationError.self) { try await task.finished() }
  }

  @Test func `S25 a cancellation handler that sends to the store is a callback`() {
    let store = WeakBox<Store<[Int], Ask>>()
    let real = askStore()
    store.value = real
    real.send(
      Ask(1) {
        .publisher {
          Broadcaster { receive in
            Subscription {
              withExtendedLifetime(receive) {}
              store.value?.send(Ask(3))
            }
          }
        }
        .cancellable(id: 1)
      })

    real.send(Ask(2) { .cancel(id: 1) })

    #expect(real.state == [1, 2, 3])
  }

  @Test func `S26 a thrown error ends its effect and fails its task only`() async {
    let store = askStore()
    let events = Recorder(store.events)

    let failing = store.send(Ask(1) { .run { _ in throw Oops() } })
    await #expect(throws: Oops.self) { try await failing.finished() }
    let strange = store.send(Ask(2) { .run { _ in throw CancellationError() } })
    await #expect(throws: CancellationError.self) { try await strange.finished() }

    let ends = events.updates.compactMap { event in
      if case .ended(_, let end, _) = event { "\(end)" } else { nil }
    }
    #expect(ends == ["✖ failed with Oops(number: 0)", "✖ failed with CancellationError()"])
    #expect(store.state == [1, 2])
  }

  @Test func `S27 no bookkeeping remains after 1,000 finished effects`() async throws {
    let store = askStore()
    var tasks: [StoreTask] = []
    for number in 0..<1_000 {
      tasks.append(
        store.send(Ask { .run { _ in await Task.yield() }.cancellable(id: number % 7) }))
    }
    for task in tasks { try await task.finished() }

    #expect(store.effectCount == 0)
    #expect(store.hasForgottenEffects)
  }

  @Test func `S27 a captured send of an ended effect retains nothing else`()
    async throws
  {
    let kept = Shared<(@Sendable (Ask) -> Void)?>(nil)
    let used = WeakBox<Nosy>()
    let store = askStore()
    func run() -> StoreTask {
      let object = Nosy(0)
      used.value = object
      return store.send(
        Ask {
          .run { send in
            kept.value = send
            _ = object.number
          }
        })
    }

    try await run().finished()

    await until { used.value == nil }
    #expect(kept.value != nil)
  }

  @Test func `S28 a StoreTask covers all effects that its send causes`()
    async throws
  {
    let store = askStore()
    let source = BroadcastSource<Ask>()
    let task = store.send(
      Ask(1) { .run { send in send(Ask(2) { .publisher { source.publisher } }) } })
    let results = Recorder(task.publisher)
    await until { store.state.contains(2) }
    await until { store.effectCount == 1 }

    #expect(!task.isFinished)
    #expect(results.updates.isEmpty)
    source.end()
    try await task.finished()
    let late = Recorder(task.publisher)

    #expect(results.updates.count == 1 && late.updates.count == 1)
    #expect(task.isFinished)
    #expect(store.send(Ask(3)).isFinished)
    try await store.send(Ask(3)).finished()
  }

  @Test(arguments: [false, true])
  func `S28 a task is unfinished between two members of a concatenation`(_ storeGoes: Bool)
    async
  {
    var store: Store? = askStore()
    let first = BroadcastSource<Ask>()
    let second = BroadcastSource<Ask>()
    let task = store?.send(
      Ask {
        .concatenate(
          .concatenate(.publisher { first.publisher }, .none), .publisher { second.publisher },
          .none)
      })
    let results = task.map { Recorder($0.publisher) }

    first.end()

    #expect(task?.isFinished == false)
    #expect(results?.updates.isEmpty == true)
    if storeGoes { store = nil } else { second.end() }
    #expect(task?.isFinished == true)
    #expect(results?.updates.count == 1)
    withExtendedLifetime(store) {}
  }

  @Test func `S28 finished throws the first error in order of ending`() async {
    let store = askStore()
    let source = BroadcastSource<Ask>()
    let task = store.send(
      Ask(1) {
        .merge(
          .concatenate(.publisher { source.publisher }, .run { _ in throw Oops(number: 2) }),
          .run { _ in throw Oops(number: 1) })
      })
    await until { store.effectCount == 1 }

    source.end()

    await #expect(throws: Oops(number: 1)) { try await task.finished() }
  }

  @Test func `S28 canceling the task that waits in finished cancels the effects`() async {
    let store = askStore()
    let ended = Shared(0)
    let started = Shared(0)
    let waiting = Task {
      try await store.send(Ask { hanging(started, ended) }).finished()
    }
    await until { started.value == 1 }

    waiting.cancel()

    await #expect(throws: CancellationError.self) { try await waiting.finished() }
    #expect(ended.value == 1)
    #expect(store.effectCount == 0)
  }

  @Test func `S29 await sequences sends, even across stores`() async throws {
    var store: Store? = askStore()
    func work(_ number: Int) -> Ask {
      Ask(number) { .run { send in send(Ask(number * 10)) } }
    }

    try await store?.send(work(1)).finished()
    try await store?.send(work(2)).finished()
    #expect(store?.state == [1, 10, 2, 20])
    let endless = store?.send(Ask { hanging() })
    store = nil

    await #expect(throws: CancellationError.self) { try await endless?.finished() }
    #expect(endless?.isFinished == true)
  }

  @Test func `S30 a throttled source sends immediately, then the latest update per interval`() {
    let clock = ManualClock()
    let store = askStore()
    let often = BroadcastSource<Int>()
    let token = often.publisher.throttle(for: .seconds(1), latest: true, clock: clock)
      .subscribe(weakly: store) { store, number in store.send(Ask(number)) }

    for number in 1...5 { often.broadcast(number) }
    store.send(Ask(100))
    clock.advance(by: .seconds(1))
    often.broadcast(6)
    clock.advance(by: .seconds(1))

    #expect(store.state == [1, 100, 5, 6])
    withExtendedLifetime(token) {}
  }

  @Test func `S31 effects hold the store weakly, and its release cancels them`() async {
    let started = Shared(0)
    let ended = Shared(0)
    let source = BroadcastSource<Ask>()
    var store: Store? = askStore()
    weak let weakly = store
    let events = store.map { Recorder($0.events) }
    let task = store?.send(
      Ask(1) { .merge(hanging(started, ended), .publisher { source.publisher }) })
    await until { started.value == 1 }
    #expect(source.subscriberCount == 1)

    store = nil

    #expect(weakly == nil)
    #expect(source.subscriberCount == 0)
    #expect(events?.hasEnded == true)
    await until { ended.value == 1 }
    await #expect(throws: CancellationError.self) { try await task?.finished() }
  }

  @Test func `an action sent after its effect's end is dropped`() async throws {
    let store = askStore()
    let escaped = Shared<(@Sendable (Ask) -> Void)?>(nil)
    try await store.send(Ask(1) { .run { escaped.value = $0 } }).finished()

    escaped.value?(Ask(2))
    escaped.value = nil

    #expect(store.state == [1])
  }

  @Test func `a thread that sends while another reduces waits for it`() async {
    let box = WeakBox<Store<Int, Int>>()
    let store = Store(0) { (state: inout Int, action: Int) in
      if action == 1 { Task.detached { _ = box.value?.send(10) } }
      for _ in 0..<100 { state += 0 }
      state += action
      return .none
    }
    box.value = store

    store.send(1)
    await until { store.state == 11 }

    #expect(store.state == 11)
  }

  @Test func `mapping an effect preserves its behavior`() async throws {
    let source = BroadcastSource<Int>()
    let store = Store([String]()) { (state: inout [String], action: String) in
      state.append(action)
      guard action == "go" else { return .none }
      let inner: Effect<Int> = .concatenate(
        .merge(.send(1), .none), .run { $0(2) }, .publisher { source.publisher }, .cancel(id: 9),
        Effect.send(3).cancellable(id: 7))
      return inner.map { "\($0)" }
    }
    let task = store.send("go")
    await until { store.state.count == 3 }
    await until { source.subscriberCount == 1 }
    source.broadcast(4)
    source.end()
    try await task.finished()

    #expect(store.state == ["go", "1", "2", "4", "3"])
  }
}
