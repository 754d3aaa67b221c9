import MiniRexStore
import TestSupport
import Testing

/// The code of the comments of scopes and of the effects of children.
@Suite(.light) struct ScopeSamples {
  struct Form: Sendable, Equatable { var text = "" }
  enum FormAction: Sendable {
    case cleared
    case typed(String)
  }

  struct Item: Sendable, Equatable, Identifiable {
    let id: String
    var form = Form()
  }

  struct Page: Sendable, Equatable {
    var items: Rows<Item> = []
    var form = Form()
    var sheet: Form?
  }
  enum PageAction: Sendable {
    case form(FormAction)
    case sheet(FormAction)
    case item(String, FormAction)
    case opened
  }

  static let form: Reducer<Form, FormAction> = { state, action in
    switch action {
    case .cleared: state.text = ""
    case .typed(let text): state.text += text
    }
    return .none
  }

  static let item: Reducer<Item, FormAction> = { state, action in
    .reduce(&state, \.form, action, by: form) { $0 }
  }

  static let page: Reducer<Page, PageAction> = { state, action in
    let sheet = form
    switch action {
    case .form(let action):
      return .reduce(&state, \.form, action, by: form) { .form($0) }
    case .sheet(let action):
      return .reduce(&state, ifPresent: \.sheet, action, by: sheet) { .sheet($0) }
    case .item(let id, let action):
      return .reduce(&state, row: id, in: \.items, action, by: item) { .item($0, $1) }
    case .opened: state.sheet = Form(text: "new")
    }
    return .none
  }

  @Test func `a child is a store`() {
    let store = Store(Page(items: [Item(id: "a")], form: Form(text: "old")), reducer: Self.page)
    store.send(.opened)

    let form: Store<Form, FormAction> = store.scope(\.form) { .form($0) }
    form.send(.cleared)  // as `store.send(.form(.cleared))`
    let sheet: Store<Form, FormAction>? = store.scope(ifPresent: \.sheet) { .sheet($0) }
    sheet?.send(.typed("er"))
    let item: Store<Item, FormAction>? = store.scope(row: "a", in: \.items) { .item($0, $1) }
    item?.send(.typed("row"))

    #expect(store.form == Form() && store.sheet == Form(text: "newer"))
    #expect(store.items == [Item(id: "a", form: Form(text: "row"))])
  }
}
