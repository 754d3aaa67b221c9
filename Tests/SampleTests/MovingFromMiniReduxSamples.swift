import MiniRex
import MiniRexStore
import MiniRexStoreTesting
import TestSupport
import Testing

/// The code of MovingFromMiniRedux.md.
@Suite(.light) struct MovingFromMiniReduxSamples {
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

  @Test func `a caller awaits the loading of a quote`() async throws {
    let store = Store(Quotes(), first: .initialized, reducer: Self.quotes { "quote" })
    #expect(store.text == "b")

    let task = store.send(.getQuoteTapped)
    try await task.finished()

    #expect(store.text == "quote")
  }

  @Test func `a parent receives the actions of its child`() async throws {
    try await withTestStore(Quotes(), reducer: Self.quotes { "quote" }) { store in
      try store.send(.child(.valueUpdated(3))) {
        $0.child.value = 3
        $0.text = "The child has 3."
      }
    }
  }

  @Test func `a test asserts every action and state change`() async throws {
    try await withTestStore(Quotes(), reducer: Self.quotes { "quote" }) { store in
      try store.send(.getQuoteTapped) { $0.text = "Loading..." }
      try await store.receive(.quoteLoaded("quote")) { $0.text = "quote" }
    }
  }

  struct List: Sendable, Equatable {
    var items: Rows<Item> = []
    var child: Child?
    var lastTapped: String?
  }

  struct Item: Sendable, Equatable, Identifiable {
    let id: String
    var text: String?
  }

  enum ListAction: Sendable, Equatable {
    case fetched([String])
    case item(String, ItemAction)
    case showChild(Int)
    case hideChild
    case child(ChildAction)
  }

  enum ItemAction: Sendable, Equatable {
    case tapped
    case loaded(String)
  }

  static let item: Reducer<Item, ItemAction> = { state, action in
    switch action {
    case .tapped: return .run { [id = state.id] send in send(.loaded("Content of \(id)")) }
    case .loaded(let text): state.text = text
    }
    return .none
  }

  static let list: Reducer<List, ListAction> = { state, action in
    switch action {
    case .fetched(let ids):
      state.items.update(to: ids, id: { $0 }) { _, id in Item(id: id) }
    case .item(let id, let action):
      if case .tapped = action { state.lastTapped = id }
      return .reduce(&state, row: id, in: \.items, action, by: item) { .item($0, $1) }
    case .showChild(let value):
      state.child = Child(value: value)
    case .hideChild:
      state.child = nil
    case .child(let action):
      return .reduce(&state, ifPresent: \.child, action, by: child) { .child($0) }
    }
    return .none
  }

  @Test func `rows are stores with separate effects`() async throws {
    let store = Store(List(), first: .fetched(["a", "b"]), reducer: Self.list)
    let rows: [Store<Item, ItemAction>] = store.scope(rows: \.items) { .item($0, $1) }
    for row in rows { try await row.send(.tapped).finished() }
    store.send(.fetched(["b", "c"]))

    #expect(store.items.map(\.text) == ["Content of b", nil] && store.lastTapped == "b")
    #expect(rows.map(\.isActive) == [false, true])
  }

  @Test func `a presented child is a store until it is hidden`() {
    let store = Store(List(), first: .showChild(1), reducer: Self.list)
    let child: Store<Child, ChildAction>? = store.scope(ifPresent: \.child) { .child($0) }
    child?.send(.valueUpdated(3))
    #expect(store.child?.value == 3 && child?.value == 3)

    store.send(.hideChild)
    child?.send(.valueUpdated(4))
    #expect(store.child == nil && child?.isActive == false)
  }
}
