import MiniRex
import MiniRexFoundationAdapters
import MiniRexStore
import MiniRexStoreTesting
import TestSupport
import Testing

struct Todo: Identifiable, Sendable, Equatable {
  let id: Int
  var text: String
  var isDone = false
}

enum TodoAction: Sendable, Equatable {
  case toggled
  case renamed(String)
  case saveTapped
  case saved
}

struct Editor: Sendable, Equatable {
  var text: String
}

enum EditorAction: Sendable, Equatable {
  case typed(String)
  case done
}

struct Todos: Sendable, Equatable {
  var todos: Rows<Todo> = []
  var editing: Todo.ID?
  var editor: Editor?
}

enum TodosAction: Sendable, Equatable {
  case added(Todo)
  case removed(Todo.ID)
  case todo(Todo.ID, TodoAction)
  case editTapped(Todo.ID)
  case editor(EditorAction)
}

private func todo(
  _ save: @escaping @Sendable (Todo) async throws -> Void
) -> Reducer<Todo, TodoAction> {
  { todo, action in
    switch action {
    case .toggled: todo.isDone.toggle()
    case .renamed(let text): todo.text = text
    case .saveTapped:
      return .run { [todo] send in
        try await save(todo)
        send(.saved)
      }
      .cancellable(id: "save", cancelInFlight: true)
    case .saved: todo.text += " ✓"
    }
    return .none
  }
}

private let editor: Reducer<Editor, EditorAction> = { editor, action in
  if case .typed(let text) = action { editor.text = text }
  return .none
}

private func todoList(
  _ save: @escaping @Sendable (Todo) async throws -> Void
) -> Reducer<Todos, TodosAction> {
  let todo = todo(save)
  return { state, action in
    switch action {
    case .added(let todo): state.todos.append(todo)
    case .removed(let id): state.todos[id: id] = nil
    case .todo(let id, let action):
      return .reduce(&state, row: id, in: \.todos, action, by: todo) { .todo($0, $1) }
    case .editTapped(let id):
      state.editing = id
      state.editor = state.todos[id: id].map { Editor(text: $0.text) }
    case .editor(.done):
      if let id = state.editing, let text = state.editor?.text { state.todos[id: id]?.text = text }
      state.editor = nil
    case .editor(let action):
      return .reduce(&state, ifPresent: \.editor, action, by: editor) { .editor($0) }
    }
    return .none
  }
}

/// The code of the article on children and lists.
@Suite(.light) struct PartsAndListsSamples {
  private func print(_ text: String) { printed.append(text) }
  private let printed = Printed()

  private final class Printed: Sendable {
    private let lines = PublishedProperty<[String]>([])
    var all: [String] { lines.value }
    func append(_ line: String) { lines.modify { $0.append(line) } }
  }

  @Test func `a list and its details`() async throws {
    let store = Store(Todos(), reducer: todoList { _ in })
    for (id, text) in ["Wash", "Cook"].enumerated() {
      store.send(.added(Todo(id: id, text: text)))
    }

    for id in store.ids(in: \.todos) {
      let row: Store<Todo, TodoAction>? = store.scope(row: id, in: \.todos) { .todo($0, $1) }
      if let row { print("\(row.text), \(row.isDone)") }
    }

    let cook: Store<Todo, TodoAction>? = store.scope(row: 1, in: \.todos) { .todo($0, $1) }
    let subscription = cook?.publisher(of: \.isDone).subscribe { print("cooked: \($0)") }
    store.send(.todo(0, .toggled))
    cook?.send(.toggled)

    store.send(.editTapped(1))
    let form: Store<Editor, EditorAction>? = store.scope(ifPresent: \.editor) { .editor($0) }
    form?.send(.typed("Cook rice"))
    form?.send(.done)
    print("\(form?.isActive == true), \(cook?.text ?? "")")

    try await cook?.send(.saveTapped).finished()
    store.send(.removed(1))
    print("\(cook?.isActive == true), \(cook?.text ?? ""), \(subscription?.isSubscribed == true)")

    #expect(
      printed.all == [
        "Wash, false", "Cook, false", "cooked: false", "cooked: true", "false, Cook rice",
        "false, Cook rice ✓, false",
      ])
  }

  @Test func `removing a row cancels its work`() async throws {
    let forever = todoList { _ in try await Task.sleep(for: .seconds(600)) }
    try await withTestStore(Todos(todos: [Todo(id: 1, text: "Cook")]), reducer: forever) { store in
      let task = try store.send(.todo(1, .saveTapped))
      try store.send(.removed(1)) { $0.todos = [] }
      await #expect(throws: CancellationError.self) { try await task.finished() }
    }
  }

  @Test func `rows of a list that is changed in place`() {
    let plain = Store(Todos(todos: [Todo(id: 1, text: "Cook")]))
    plain.scope(row: 1, in: \.todos)?.isDone = true
    plain.commit { $0.todos.append(Todo(id: 2, text: "Wash")) }

    #expect(plain.todos.map(\.isDone) == [true, false])
  }

  @Test func `a list from a server keeps existing rows`() {
    var state = Todos(todos: [Todo(id: 1, text: "old", isDone: true), Todo(id: 2, text: "gone")])
    let news = [(id: 3, text: "new"), (id: 1, text: "newer")]

    state.todos.update(to: news, id: \.id) { _, new in Todo(id: new.id, text: new.text) }
    for new in news where state.todos[id: new.id]?.text != new.text {
      state.todos[id: new.id]?.text = new.text
    }

    #expect(
      Array(state.todos) == [Todo(id: 3, text: "new"), Todo(id: 1, text: "newer", isDone: true)])
  }

  @MainActor private final class Label { var text = "" }

  @MainActor @Test func `a label and an object show a child and a row`() {
    let store = Store(Todos(todos: [Todo(id: 1, text: "Cook")]), reducer: todoList { _ in })
    let label = Label()
    let row: Store<Todo, TodoAction>? = store.scope(row: 1, in: \.todos) { .todo($0, $1) }
    let subscription = row?.publisher(of: \.text).bindOnMain(to: label, \.text)
    let isDone = row?.publisher(of: \.isDone).observed()

    row?.send(.renamed("Cook rice"))
    row?.send(.toggled)
    #expect(label.text == "Cook rice" && isDone?.value == true)

    store.send(.removed(1))
    #expect(subscription?.isSubscribed == false)
    #expect(isDone?.value == true && label.text == "Cook rice")
  }
}
