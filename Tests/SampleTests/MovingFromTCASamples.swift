import MiniRex
import MiniRexStore
import MiniRexStoreTesting
import MiniRexTesting
import TestSupport
import Testing

/// The code of MovingFromTCA.md.
@Suite(.light) struct MovingFromTCASamples {
  struct Inbox: Sendable, Equatable {
    var query = ""
    var items: Rows<Item> = []
    var destination: Destination?
    var isCompact = false
  }

  struct Item: Sendable, Equatable, Identifiable {
    let id: Int
    var isDone = false
  }

  struct Form: Sendable, Equatable { var text = "" }

  enum Destination: Sendable, Equatable {
    case edit(Form)
    case help
  }

  enum InboxAction: Sendable, Equatable {
    case appeared
    case queryChanged(String)
    case found([Int])
    case item(Int, ItemAction)
    case editTapped
    case edit(FormAction)
    case compactChanged(Bool)
  }

  enum ItemAction: Sendable, Equatable { case tapped }

  enum FormAction: Sendable, Equatable {
    case textChanged(String)
    case saved
  }

  enum Field: Hashable { case query }

  struct API: Sendable {
    var search: @Sendable (String) async throws -> [Int]
  }

  static let item: Reducer<Item, ItemAction> = { state, action in
    switch action {
    case .tapped: state.isDone.toggle()
    }
    return .none
  }

  static let form: Reducer<Form, FormAction> = { state, action in
    if case .textChanged(let text) = action { state.text = text }
    return .none
  }

  static func inbox(
    _ api: API, clock: any Clock<Duration>, compact: Store<Bool, Never> = Store(false)
  ) -> Reducer<Inbox, InboxAction> {
    { state, action in
      switch action {
      case .appeared:
        return .publisher { compact.publisher.map(InboxAction.compactChanged) }
      case .compactChanged(let isCompact):
        state.isCompact = isCompact
      case .queryChanged(let query):
        state.query = query
        return .run { send in
          try await clock.sleep(for: .milliseconds(300))
          send(.found(try await api.search(query)))
        }
        .cancellable(id: Field.query, cancelInFlight: true)
      case .found(let ids):
        state.items.update(to: ids, id: { $0 }) { _, id in Item(id: id) }
      case .item(let id, let action):
        return .reduce(&state, row: id, in: \.items, action, by: item) { .item($0, $1) }
      case .editTapped:
        state.destination = .edit(Form())
      case .edit(.saved):
        state.destination = nil
      case .edit(let action):
        return .reduce(&state, ifPresent: \.edit, action, by: form) { .edit($0) }
      }
      return .none
    }
  }

  struct Shelf: Sendable, Equatable {
    var items: Rows<Item> = []
    var doneCount = 0
  }

  enum ShelfAction: Sendable, Equatable { case item(Int, ItemAction) }

  static let counted: Reducer<Shelf, ShelfAction> = { state, action in
    switch action {
    case .item(let id, let action):
      let effect: Effect<ShelfAction> = .reduce(&state, row: id, in: \.items, action, by: item) {
        .item($0, $1)
      }
      if case .tapped = action { state.doneCount = state.items.count { $0.isDone } }
      return effect
    }
  }

  @Test func `a parent and its child act on one action, in one commit`() {
    let store = Store(Shelf(items: [Item(id: 1), Item(id: 2)]), reducer: Self.counted)

    #expect(store.send(.item(2, .tapped)) { $0.doneCount }.value == 1)
    #expect(store.send(.item(2, .tapped)) { $0.doneCount }.number == 2)
  }

  @Test func `a search is debounced and keeps existing rows`() async throws {
    let clock = ManualClock()
    let api = API { query in query == "a" ? [1, 2] : [2, 3] }
    try await withTestStore(Inbox(), reducer: Self.inbox(api, clock: clock)) { store in
      try store.send(.queryChanged("a")) { $0.query = "a" }
      try store.send(.queryChanged("ab")) { $0.query = "ab" }
      await clock.advance(by: .milliseconds(300), sleepers: 1)
      try await store.receive(.found([2, 3])) { $0.items = [Item(id: 2), Item(id: 3)] }
      try store.send(.item(2, .tapped)) { $0.items[id: 2]?.isDone = true }
    }
  }

  @Test func `rows and presented children are stores while they are present`() throws {
    let store = Store(
      Inbox(items: [Item(id: 1), Item(id: 2)]),
      reducer: Self.inbox(API { _ in [] }, clock: ManualClock()))

    for id in store.ids(in: \.items) {
      let row = store.scope(row: id, in: \.items) { .item($0, $1) }
      row?.send(.tapped)
    }
    store.send(.editTapped)
    let edit = try #require(store.scope(ifPresent: \.edit) { .edit($0) })
    edit.send(.textChanged("Rex"))

    #expect(store.items.allSatisfy { $0.isDone } && store.edit == Form(text: "Rex"))
    edit.send(.saved)
    #expect(!edit.isActive && store.scope(ifPresent: \.edit) { .edit($0) } == nil)
  }

  @Test func `shared state is a store that reducers capture`() {
    let compact = Store(false)
    let stores = (0..<2).map { _ in
      Store(
        Inbox(), first: .appeared,
        reducer: Self.inbox(API { _ in [] }, clock: ManualClock(), compact: compact))
    }
    compact.commit { $0 = true }

    #expect(stores.allSatisfy { $0.isCompact })
  }

  @Test func `a computed value reads several stores`() {
    let inbox = Store(
      Inbox(items: [Item(id: 1), Item(id: 2)]),
      reducer: Self.inbox(API { _ in [] }, clock: ManualClock()))
    let compact = Store(false)

    let open = inbox.publisher(of: { $0.items.count { !$0.isDone } })
    let isCompact = compact.publisher
    let title = PublishedValue.computed { read in
      read(isCompact) ? "\(read(open))" : "Inbox (\(read(open)))"
    }

    let recorder = Recorder(title)
    inbox.send(.item(2, .tapped))
    compact.commit { $0 = true }
    #expect(recorder.updates == ["Inbox (2)", "Inbox (1)", "1"])
  }
}

extension MovingFromTCASamples.Inbox {
  var edit: MovingFromTCASamples.Form? {
    get { if case .edit(let form)? = destination { form } else { nil } }
    set { destination = newValue.map { .edit($0) } }
  }
}
