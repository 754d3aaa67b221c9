import MiniRex
import MiniRexStore
import MiniRexStoreTesting
import MiniRexTesting
import TestSupport
import Testing

private struct Feed: Sendable, Equatable {
  var query = ""
  var count = 0
  var log: [String] = []
}

private enum FeedAction: Sendable, Equatable {
  case load(String)
  case began
  case loaded(Int)
  case fail
  case hang
}

private struct Offline: Error {}

private func feed(_ clock: any Clock<Duration>) -> Reducer<Feed, FeedAction> {
  { state, action in
    state.log.append("\(action)")
    switch action {
    case .load(let query):
      state.query = query
      return .merge(
        .send(.began),
        .run { send in
          try await clock.sleep(for: .seconds(1))
          send(.loaded(query.count))
        })
    case .loaded(let count): state.count = count
    case .fail: return .run { _ in throw Offline() }
    case .hang: return .publisher { Broadcaster.never }
    case .began: break
    }
    return .none
  }
}

@Suite(.light) struct ExhaustivityTests {
  @Test func `without exhaustivity, only the stated changes and actions are asserted`()
    async throws
  {
    let clock = ManualClock()
    try await withTestStore(Feed(), exhaustivity: .off, reducer: feed(clock)) { store in
      try store.send(.load("abc")) { $0.query = "abc" }
      try store.send(.load("ab"))
      await clock.advance(by: .seconds(1), sleepers: 2)
      try await store.receive(.loaded(2)) { $0.count = 2 }
      try store.send(.fail)
      try store.send(.hang)
      try store.send(.load("later"))
      #expect(store.state.query == "later")
    }
  }

  @Test func `without exhaustivity, send asserts the state after the actions that reducers sent`()
    async throws
  {
    let chain: Reducer<Int, Int> = { state, action in
      state += action
      return action > 1 ? .send(action - 1) : .none
    }
    let store = Store(0, reducer: chain)
    store.send(3)
    try await withTestStore(0, exhaustivity: .off, reducer: chain) { test in
      try test.send(3) { $0 = 6 }
      #expect(test.state == store.state)
      try await test.receive(1) { $0 = 6 }
      try test.send(2) { $0 = 9 }
    }
    try await withTestStore(0, exhaustivity: .on, reducer: chain) { test in
      try test.send(3) { $0 = 3 }
      try await test.receive(2) { $0 = 5 }
      try await test.receive(1) { $0 = 6 }
      #expect(test.state == store.state)
    }
  }

  @Test func `without exhaustivity, a wrong statement still fails`() async {
    func failure(
      _ body: nonisolated(nonsending) (TestStore<Feed, FeedAction>) async throws -> Void
    ) async -> String {
      do {
        try await withTestStore(
          Feed(), within: .milliseconds(50), exhaustivity: .off, reducer: feed(ManualClock()), body)
        return "none"
      } catch {
        return "\(error)"
      }
    }

    let state = await failure { store in try store.send(.load("a")) { $0.query = "b" } }
    let action = await failure { store in
      try store.send(.load("a"))
      try await store.receive(.loaded(1))
    }
    let ended = await failure { store in
      try store.send(.began)
      try await store.receive(.loaded(1))
    }

    #expect(state.contains("query: \"a\", expected \"b\"") && !state.contains("log"))
    #expect(action.contains("No action was received within"))
    #expect(ended.contains("No running effect could send one."))
  }

  @Test func `a wait without an action advises to advance the clock`() async {
    let text: String
    do {
      try await withTestStore(
        Feed(), within: .milliseconds(50), exhaustivity: .on, reducer: feed(ManualClock())
      ) { store in
        try store.send(.load("a")) {
          $0.query = "a"
          $0.log = ["load(\"a\")"]
        }
        try await store.receive(.began) { $0.log.append("began") }
        try await store.receive(.loaded(1))
      }
      text = "none"
    } catch {
      text = "\(error)"
    }
    #expect(text.contains("No action was received within"))
    #expect(text.contains("'await clock.advance(by: …, sleepers: 1)'"))
  }
}
