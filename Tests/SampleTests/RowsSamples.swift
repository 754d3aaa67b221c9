import MiniRexStore
import TestSupport
import Testing

/// The code of the comments of `Rows`.
@Suite(.light) struct RowsSamples {
  struct Todo: Identifiable, Sendable, Equatable {
    let id: Int
    var text: String
    var isDone = false
  }

  struct Item: Identifiable, Sendable {
    let id: String
    var text = ""
  }

  @Test func `rows are changed by id`() {
    var todos: Rows = [Todo(id: 1, text: "Wash"), Todo(id: 2, text: "Cook")]
    todos[id: 2]?.isDone = true
    todos[id: 1] = nil

    #expect(Array(todos) == [Todo(id: 2, text: "Cook", isDone: true)])
  }

  @Test func `rows match a server's list and are kept`() {
    var state = (items: [Item(id: "a", text: "kept")] as Rows, count: 0)
    let ids = ["b", "a"]
    state.items.update(to: ids, id: { $0 }) { _, id in Item(id: id) }

    #expect(state.items.map(\.text) == ["", "kept"])
  }
}
