import MiniRex
import MiniRexStore
import MiniRexStoreTesting
import MiniRexTesting
import TestSupport
import Testing

/// The code of MovingFromMiniSwift.md.
@Suite(.light) struct MovingFromMiniSwiftSamples {
  struct LoadError: Error, Equatable { let reason: String }

  struct CounterState: Sendable, Equatable {
    var counter: Promise<Int, LoadError> = .idle
  }

  struct SetCounter: Sendable { let counter: Int }
  struct CounterLoaded: Sendable { let result: Result<Int, LoadError> }

  final class Controller: Sendable {
    func counter(_ number: Int) async throws(LoadError) -> Int {
      if number < 0 { throw LoadError(reason: "negative") }
      return number
    }
  }

  static func reducer(_ controller: Controller) -> Reducer<CounterState, any Sendable> {
    { state, action in
      switch action {
      case let action as SetCounter:
        guard state.counter.begin() else { return .none }
        let load = PublishedTask { () async throws(LoadError) in
          try await controller.counter(action.counter)
        }
        return .publisher { load.broadcaster.map { CounterLoaded(result: $0) } }
      case let action as CounterLoaded:
        state.counter.resolve(action.result)
        return .none
      default:
        return .none
      }
    }
  }

  @Test func `a dispatcher reaches the store, and a promise has the result`() async throws {
    let paper = Paper()
    let print = paper.print
    let dispatcher = BroadcastSource<any Sendable>()
    let store = Store(CounterState(), reducer: Self.reducer(Controller()))
    let bag = SubscriptionBag()
    dispatcher.publisher.subscribe(weakly: store) { $0.send($1) }.store(in: bag)
    store.events.subscribe { if $0.action is SetCounter { print("\($0.commit?.number ?? 0)") } }
      .store(in: bag)
    let actions = Recorder(store.events.compactMap { $0.action })
    let values = Recorder(store.publisher(of: \.counter).compactMap { $0.result })

    dispatcher.broadcast(SetCounter(counter: 1))
    #expect(await values.next() == [.success(1)])
    dispatcher.broadcast(SetCounter(counter: 2))
    #expect(await values.next() == [.success(2)])

    #expect(actions.updates.count { $0 is SetCounter } == 2)
    #expect(paper.lines == ["1", "3"])
  }

  @Test func `a middleware is a reducer that calls a reducer`() {
    let paper = Paper()
    let print = paper.print
    let base = Self.reducer(Controller())
    let loud: Reducer<CounterState, any Sendable> = { state, action in
      print("before")
      defer { print("after") }
      return base(&state, action)
    }
    let store = Store(CounterState(), reducer: loud)
    store.send("nothing")

    #expect(paper.lines == ["before", "after"])
  }

  @Test func `a failed request is a rejected promise`() async throws {
    try await withTestStore(CounterState(), reducer: Self.reducer(Controller())) { store in
      try store.send(SetCounter(counter: -1)) { $0.counter = .pending }
      try await store.receive(where: { $0 is CounterLoaded }) {
        $0.counter = .rejected(LoadError(reason: "negative"))
      }
    }
  }

  struct CachedCounter: Equatable {
    var value: Int?
    var isPending = false
    var isExpired = false
  }

  @Test func `a resource is a promise with its date and its expiry`() async throws {
    let (clock, backend) = (ManualClock(), Backend())
    @Sendable func fetchCounter() async throws -> Int { try await backend.load() }

    let counter = Resource(staleAfter: .seconds(60), clock: clock) { try await fetchCounter() }
    let store = Store(CachedCounter())
    let subscription = counter.publisher.subscribe { state in
      store.commit { cached in
        cached.value = state.value
        cached.isPending = state.isLoading
        cached.isExpired = state.isStale
      }
    }
    #expect(store.state.isPending)
    let values = Recorder(store.publisher(of: \.value))
    backend.answer(1, 7)
    #expect(try await counter.value() == 7)
    #expect(await values.next(2) == [nil, 7])
    await clock.advance(by: .seconds(60))
    // The thread of the load may still deliver the value. It then delivers this update as well.
    await until(store.state.isExpired) { $0 }
    #expect(counter.state.age == .seconds(60))
    withExtendedLifetime(subscription) {}
  }
}
