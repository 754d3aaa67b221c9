import MiniRex
import MiniRexStore
import MiniRexStoreTesting
import MiniRexTesting
import TestSupport
import Testing

private struct Search: Sendable, Equatable {
  struct Filter: Sendable, Equatable { var words = ["a", "b"] }
  var query = ""
  var results: [String] = []
  var filter = Filter()
}

private enum SearchAction: Sendable, Equatable {
  case query(String)
  case found([String])
  case twice
  case fail
  case hang
  case clear
}

private struct Offline: Error {}

private let search: Reducer<Search, SearchAction> = { state, action in
  switch action {
  case .query(let query):
    state.query = query
    return .run { send in send(.found([query])) }.cancellable(id: "search", cancelInFlight: true)
  case .found(let results): state.results = results
  case .twice: return .merge(.send(.clear), .send(.found(["x"])))
  case .fail: return .run { _ in throw Offline() }
  case .hang: return .publisher { Broadcaster.never }.cancellable(id: "hanging")
  case .clear: state = Search()
  }
  return .none
}

/// The description of the failure that `withTestStore` throws.
private func failure(
  within patience: Duration = .seconds(60),
  of body: nonisolated(nonsending) (TestStore<Search, SearchAction>) async throws -> Void
) async -> String {
  do {
    try await withTestStore(Search(), within: patience, reducer: search, body)
    return "none"
  } catch {
    return "\(error)"
  }
}

@Suite(.light) struct TestStoreTests {
  @Test func `S36 withTestStore passes if the body asserts every action`() async throws {
    try await withTestStore(Search(), reducer: search) { store in
      try store.send(.query("swift")) { $0.query = "swift" }
      try await store.receive(.found(["swift"])) { $0.results = ["swift"] }
      #expect(store.state.results == ["swift"])
      try store.send(.twice)
      #expect(store.state.results == ["swift"])
      try await store.receive(.clear) { $0 = Search() }
      let action = try await store.receive(where: { $0 != .clear }) { $0.results = ["x"] }
      #expect(action == .found(["x"]))
    }
  }

  @Test func `S36 a failure names the paths, the place, and the running effects`() async {
    let text = await failure { store in
      try store.send(.hang)
      try store.send(.clear) {
        $0.query = "b"
        $0.filter.words[1] = "c"
      }
    }

    #expect(text.contains("TestStoreTests.swift:"))
    #expect(text.contains("query: \"\", expected \"b\""))
    #expect(text.contains("filter.words[1]: \"b\", expected \"c\""))
    #expect(!text.contains("results"))
    #expect(text.contains("Running effects: hanging"))
  }

  @Test func `S36 withTestStore throws if the body omits an action, effect, or failure`() async {
    let forgotten = await failure { store in
      try store.send(.query("a")) { $0.query = "a" }
    }
    let other = await failure { store in
      try store.send(.query("a")) { $0.query = "a" }
      try await store.receive(.clear)
    }
    let refused = await failure { store in
      try store.send(.query("a")) { $0.query = "a" }
      try await store.receive(where: { $0 == .clear })
    }
    let early = await failure { store in
      try store.send(.twice)
      try store.send(.clear)
    }

    #expect(forgotten.contains("not asserted before the end of the test: found([\"a\"])"))
    #expect(
      other.contains("Another action was received:\n  the action: found([\"a\"]), expected clear"))
    #expect(
      refused.contains("The received action does not satisfy the condition: found([\"a\"])"))
    #expect(early.contains("not asserted before sending clear: clear, found([\"x\"])"))
  }

  @Test func `S36 a failed effect and a running effect fail the test`() async {
    let unseen = await failure { store in try store.send(.fail) }
    let seen = await failure { store in
      let task = try store.send(.fail)
      await #expect(throws: Offline.self) { try await task.finished() }
    }
    let hanging = await failure(within: .milliseconds(50)) { store in try store.send(.hang) }

    #expect(unseen.contains("An effect failed with Offline()"))
    #expect(seen == "none")
    #expect(hanging.contains("An effect did not end within"))
  }

  @Test func `S37 receive throws as soon as no running effect could send`() async {
    let nothing = await #expect(throws: TestStoreFailure.self) {
      try await withTestStore(Search(), within: .seconds(600), reducer: search) { store in
        try await store.receive(.clear)
      }
    }
    let late = await failure(within: .milliseconds(50)) { store in
      try store.send(.hang)
      try await store.receive(.clear)
    }

    #expect(nothing?.description.contains("No running effect could send one") == true)
    #expect(late.contains("No action was received within"))
  }

  @Test func `S37 on a manual clock an effect has ended when advance returns`() async throws {
    let clock = ManualClock()
    let reducer: Reducer<Int, Int> = { state, action in
      state += action
      if action != 1 { return .none }
      return .publisher {
        PublishedTask<Int, Never>.success(10, after: .seconds(1), clock: clock).broadcaster
          .map { $0.get() }
      }
    }
    try await withTestStore(0, reducer: reducer) { store in
      try store.send(1) { $0 = 1 }
      await clock.advance(by: .seconds(1))
      try await store.receive(10) { $0 = 11 }
    }
  }

  @Test func `S37 skipped actions and canceled effects need no assertion`() async throws {
    try await withTestStore(Search(), reducer: search) { store in
      try store.send(.twice)
      store.skipReceived()
      #expect(store.state.results == ["x"])
      try store.send(.hang)
      store.cancelEffects()
    }
  }

  @Test func `S36 send returns after its delivery on another thread`()
    async throws
  {
    let source = BroadcastSource<Int>()
    let reducer: Reducer<Int, Int> = { state, action in
      state += action
      return action == 0 ? .publisher { source.publisher }.cancellable(id: 1) : .none
    }
    for _ in 0..<20 {
      try await withTestStore(0, reducer: reducer) { store in
        try store.send(0)
        async let sending: Void = { for _ in 0..<50 { source.broadcast(1) } }()
        var left = 50
        while left > 0 {
          try await store.receive(1) { $0 += 1 }
          left -= 1
        }
        await sending
        try store.send(100) { $0 += 100 }
        store.cancelEffects()
      }
    }
  }
}

private struct Charge: Codable, Equatable, Identifiable, Sendable {
  var id: Int
}

private struct Shop: Equatable, Sendable {
  var charges = Jobs<Charge>()
  var receipts: [Int] = []
}

private enum ShopAction: Equatable, Sendable {
  case ordered(Int)
  case charged(Int)
  case charges(JobsAction<Charge>)
}

private let selling: Reducer<Shop, ShopAction> = { shop, action in
  switch action {
  case .ordered(let id): shop.charges.add(Charge(id: id))
  case .charged(let id):
    shop.receipts.append(id)
    shop.charges.remove(id)
  case .charges(let action): shop.charges.reduce(action)
  }
  return .none
}

/// Jobs in a test store.
@Suite(.light) struct TestStoreJobsTests {
  @Test func `each beginning, failure, and result of a job is asserted`() async throws {
    let clock = ManualClock()
    let now: @Sendable () -> UnixTime = { UnixTime(milliseconds: 0).advanced(by: clock.now.offset) }
    try await withTestStore(Shop(), reducer: selling) { store in
      store.perform(
        \.charges, ShopAction.charges, atMost: 1, clock: clock, now: now
      ) { charge, attempt in
        if attempt == 1 { throw CancellationError() }
        return .charged(charge.id)
      }

      try store.send(.ordered(1)) { $0.charges.add(Charge(id: 1)) }
      let first = JobsAction<Charge>.began(id: 1, attempt: 1, at: now())
      try await store.receive(.charges(first)) { $0.charges.reduce(first) }
      let failed = JobsAction<Charge>.failed(
        id: 1, JobFailure(attempt: 1, description: "CancellationError()", time: now()),
        retryAt: now().advanced(by: .seconds(1)))
      try await store.receive(.charges(failed)) { $0.charges.reduce(failed) }
      await clock.advance(by: .seconds(1))
      let second = JobsAction<Charge>.began(id: 1, attempt: 2, at: now())
      try await store.receive(.charges(second)) { $0.charges.reduce(second) }
      try await store.receive(.charged(1)) {
        $0.charges.remove(1)
        $0.receipts = [1]
      }
    }
  }

  @Test func `the beginning and the result of a job are asserted`() async throws {
    let now: @Sendable () -> UnixTime = { UnixTime(milliseconds: 0) }
    try await withTestStore(Shop(), reducer: selling) { store in
      store.perform(\.charges, ShopAction.charges, atMost: 1, now: now) { charge, _ in
        .charged(charge.id)
      }
      try store.send(.ordered(1)) { $0.charges.add(Charge(id: 1)) }
      let began = JobsAction<Charge>.began(id: 1, attempt: 1, at: now())
      try await store.receive(.charges(began)) { $0.charges.reduce(began) }
      try await store.receive(.charged(1)) {
        $0.charges.remove(1)
        $0.receipts = [1]
      }
    }
  }

  @Test func `an unasserted action of a job and a job that keeps running fail the test`() async {
    let zero = UnixTime(milliseconds: 0)
    let first = JobsAction<Charge>.began(id: 1, attempt: 1, at: zero)
    let unasserted = await #expect(throws: TestStoreFailure.self) {
      try await withTestStore(Shop(), reducer: selling) { store in
        store.perform(\.charges, ShopAction.charges, atMost: 1, now: { zero }) {
          charge, _ in .charged(charge.id)
        }
        try store.send(.ordered(1)) { $0.charges.add(Charge(id: 1)) }
        try await store.receive(.charges(first)) { $0.charges.reduce(first) }
      }
    }
    let running = await #expect(throws: TestStoreFailure.self) {
      try await withTestStore(
        Shop(), within: .milliseconds(10), exhaustivity: .on, reducer: selling
      ) { store in
        let clock = ManualClock()
        store.perform(\.charges, ShopAction.charges, atMost: 1, now: { zero }) { charge, _ in
          try await clock.sleep(for: .seconds(1))
          return .charged(charge.id)
        }
        try store.send(.ordered(1)) { $0.charges.add(Charge(id: 1)) }
        try await store.receive(.charges(first)) { $0.charges.reduce(first) }
      }
    }

    #expect(unasserted?.description.contains("Received and not asserted before") == true)
    #expect(running?.description.contains("A job did not end within") == true)
  }
}
