import MiniRex
import MiniRexStore
import TestSupport
import Testing

/// The code of the comments of `FlatState`, `StateDiff`, and `diffs`.
@Suite(.light) struct DiffSamples {
  let paper = Paper()

  func print(_ line: Any) { paper.print("\(line)") }

  struct Todo: Identifiable, Codable, Sendable {
    let id: Int
    var text: String
    var isDone: Bool?
  }

  struct Todos: Codable, Sendable {
    var todos: Rows<Todo>
  }

  @Test func `a value is flattened to paths and scalars`() throws {
    let todos = [Todo(id: 1, text: "Wash"), Todo(id: 2, text: "Cook")]
    print(try FlatState(todos))  // 0/id: 1, 0/text: "Wash", 1/id: 2, 1/text: "Cook"

    #expect(paper.lines == [#"0/id: 1, 0/text: "Wash", 1/id: 2, 1/text: "Cook""#])
  }

  @Test func `a flattened value decodes, and follows diffs`() throws {
    let todos = [Todo(id: 1, text: "Wash"), Todo(id: 2, text: "Cook")]
    let copy = try FlatState(todos).decode([Todo].self)
    #expect(copy.map(\.text) == ["Wash", "Cook"])

    let store = Store(Todos(todos: []))
    let print = paper.print
    let flat = try FlatState(store.state)
    let remote = store.diffs.subscribe { diff in
      guard let diff = try? diff.get() else { return }
      let next = flat.applying(diff)
      print("\(next)")
    }
    let subscription = store.subscribe { number, state in
      print("\(number): \(state.todos.count)")
    } diffs: { diff in
      if let diff = try? diff.get() { print("\(diff)") }
    }
    store.commit { $0.todos = [Todo(id: 1, text: "Wash")] }

    #expect(
      paper.lines == [
        "0: 0", #"todos/0/id: 1, todos/0/text: "Wash""#,
        #"1 todos: - [], todos/0/id: + 1, todos/0/text: + "Wash""#,
      ])
    withExtendedLifetime((remote, subscription)) {}
  }

  @Test func `a diff is one line or JSON`() {
    let print = paper.print
    let store = Store(Todos(todos: [Todo(id: 1, text: "Wash", isDone: false)]))
    let subscription = store.diffs.subscribe { diff in
      if let diff = try? diff.get() { print("\(diff)") }  // 1 todos/0/isDone: false → true
    }
    let others = store.diffs.subscribe { diff in
      if let diff = try? diff.get() { print(diff.json()) }
    }
    store.commit { $0.todos[id: 1]?.isDone = true }

    #expect(paper.lines == ["1 todos/0/isDone: false → true", #"{"todos/0/isDone":true}"#])
    withExtendedLifetime((subscription, others)) {}
  }
}
