import MiniRex
import MiniRexStore
import MiniRexStoreTesting
import Testing

/// The code of MovingFromMiniRedux.md.
@Suite struct MovingFromMiniReduxSamples {
  struct Quotes: Sendable, Equatable {
    var text = ""
    var child = Child()
  }

  struct Child: Sendable, Equatable { var value = 0 }

  enum Action: Sendable, Equatable {
    case initialized
    case getQuoteTapped
    case quoteLoaded(String)
    case child(ChildAction)
  }

  enum ChildAction: Sendable, Equatable { case valueUpdated(Int) }

  static let child: Reducer<Child, ChildAction> = { state, action in
    switch action {
    case .valueUpdated(let value): state.value = value
    }
    return .none
  }

  static func quotes(
    _ quote: @escaping @Sendable () async throws -> String
  ) -> Reducer<Quotes, Action> {
    { state, action in
      switch action {
      case .initialized:
        return .publisher { Broadcaster.sequence(["a", "b"]).map { .quoteLoaded($0) } }
      case .getQuoteTapped:
        state.text = "Loading..."
        return .run { send in send(.quoteLoaded(try await quote())) }
          .cancellable(id: "load", cancelInFlight: true)
      case .quoteLoaded(let text):
        state.text = text
      case .child(let action):
        if case .valueUpdated(let value) = action { state.text = "The child has \(value)." }
        return child(&state.child, action).map(Action.child)
      }
      return .none
    }
  }

  @Test func `a quote is loaded by whoever waits for it`() async throws {
    let store = Store(Quotes(), first: .initialized, reducer: Self.quotes { "quote" })
    #expect(store.text == "b")

    let task = store.send(.getQuoteTapped)
    try await task.finished()

    #expect(store.text == "quote")
  }

  @Test func `a parent sees what its child does`() async throws {
    try await withTestStore(Quotes(), reducer: Self.quotes { "quote" }) { store in
      try store.send(.child(.valueUpdated(3))) {
        $0.child.value = 3
        $0.text = "The child has 3."
      }
    }
  }

  @Test func `a test says all that happens`() async throws {
    try await withTestStore(Quotes(), reducer: Self.quotes { "quote" }) { store in
      try store.send(.getQuoteTapped) { $0.text = "Loading..." }
      try await store.receive(.quoteLoaded("quote")) { $0.text = "quote" }
    }
  }
}
