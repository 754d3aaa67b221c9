import MiniRex
import MiniRexStore
import MiniRexTesting
import TestSupport
import Testing

/// The code of MovingFromStore.md.
@Suite(.light) struct MovingFromStoreSamples {
  let paper = Paper()

  struct Counter: Sendable, Codable {
    var count = 0
    var todos: Rows<Todo> = []
  }

  struct Todo: Sendable, Codable, Identifiable {
    var id = 0
    var isDone = false
  }

  enum CounterAction: Sendable {
    case increase(Int)
    case upload
    case uploaded
  }

  struct MaxCount: Error {}

  static let counter: Reducer<Counter, CounterAction> = { state, action in
    switch action {
    case .increase(let amount): state.count += amount
    case .upload:
      let count = state.count
      return .run { send in
        guard count != 42 else { throw MaxCount() }
        send(.uploaded)
      }.cancellable(id: "upload")
    case .uploaded: break
    }
    return .none
  }

  @Test func `a store is changed in place and logs the names of changes`() {
    let print = paper.print
    let store = Store(Counter())
    let log = store.events.subscribe { print("\($0)") }

    store.count += 1
    store.commit("TWO") { $0.count += 2 }
    store.todos[id: 7] = Todo(id: 7)

    #expect(store.state.count == 3)
    #expect(paper.lines == ["1 \\Counter.count", "2 TWO", "3 \\Counter.todos"])
    withExtendedLifetime(log) {}
  }

  @Test func `a transaction is awaited`() async throws {
    let store = Store(Counter(), reducer: Self.counter)

    for action in [CounterAction.increase(1), .upload] { try await store.send(action).finished() }
    store.send(.increase(41))
    await #expect(throws: MaxCount.self) { try await store.send(.upload).finished() }
    store.send(.upload).cancel()

    #expect(store.effectCount <= 1)
  }

  @Test func `a throttled update never becomes an action`() async {
    let store = Store(Counter(), reducer: Self.counter)
    let clock = ManualClock()
    let bag = SubscriptionBag()
    let often = BroadcastSource<CounterAction>()
    often.publisher.throttle(for: .milliseconds(500), latest: true, clock: clock)
      .subscribe(weakly: store) { $0.send($1) }.store(in: bag)

    for amount in 1...3 { often.broadcast(.increase(amount)) }
    #expect(store.count == 1)
    await clock.advance(by: .milliseconds(500))

    #expect(store.count == 4)
    bag.invalidate()
  }

  @Test func `a transaction's diff is its commit's diff`() {
    let print = paper.print
    let store = Store(Counter(todos: [Todo(id: 1)]))
    let subscription = store.diffs.subscribe { diff in
      guard let diff = try? diff.get() else { return }
      if case .changed(let old, let new)? = diff["count"] { print("\(old) → \(new)") }
      print(diff.json())
    }

    store.commit("BOTH") {
      $0.count += 1
      $0.todos[id: 1]?.isDone = true
    }

    #expect(paper.lines == ["0 → 1", #"{"count":1,"todos/0/isDone":true}"#])
    withExtendedLifetime(subscription) {}
  }

  @Test func `a child store is a scope`() {
    let print = paper.print
    let store = Store(Counter(todos: [Todo(id: 1), Todo(id: 2)]))
    let subscription = store.diffs.subscribe { diff in
      if let diff = try? diff.get() { print("\(diff)") }
    }

    store.scope(row: 2, in: \.todos)?.isDone = true
    store.scope(\.count).commit { $0 += 1 }

    #expect(paper.lines == ["1 todos/1/isDone: false → true", "2 count: 0 → 1"])
    withExtendedLifetime(subscription) {}
  }

  @Test func `a change is rolled back by restoring the old state`() throws {
    struct TooMany: Error {}
    let store = Store(Counter())
    let diffs = Recorder(store.diffs)

    #expect(throws: TooMany.self) {
      try store.commit("order") { state in
        let old = state
        state.count += 100
        state.todos[id: 1] = Todo(id: 1)
        if state.count > 42 {
          state = old
          throw TooMany()
        }
      }
    }

    #expect(store.count == 0 && store.todos.isEmpty && diffs.updates.isEmpty)
  }

  @Test func `a model is flattened and decoded again`() throws {
    let print = paper.print
    let store = Store(Counter(count: 1, todos: [Todo(id: 7, isDone: true)]))
    print("\(try FlatState(store.state))")

    #expect(paper.lines == ["count: 1, todos/0/id: 7, todos/0/isDone: true"])
  }
}
