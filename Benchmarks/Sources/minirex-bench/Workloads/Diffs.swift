import Foundation
import MiniRex
import MiniRexStore

private struct Todo: Identifiable, Codable, Sendable {
  let id: Int
  var text: String
  var isDone = false
}

private struct Board: Codable, Sendable {
  var title = "board"
  var todos: Rows<Todo>
}

private func board() -> Store<Board, Never> {
  Store(Board(todos: Rows((0..<100).map { Todo(id: $0, text: "Wash the dishes") })))
}

/// One changed row in a hundred, encoded as a diff for remote readers.
extension Suite {
  func diffs() {
    bench("diff-100", "minirex") {
      let store = opaque(board())
      let acc = Acc()
      let token = store.diffs.subscribe { if case .success(let diff) = $0 { acc.add(diff.commit) } }
      return { k in
        for i in 0..<k { store.commit { $0.todos[id: i % 100]?.isDone.toggle() } }
        withExtendedLifetime(token) {}
      }
    }
    bench("diff-100", "JSONEncoder") {
      let store = opaque(board())
      let acc = Acc()
      let encoder = JSONEncoder()
      let token = store.events.subscribe {
        if let state = $0.commit?.state { acc.add((try? encoder.encode(state).count) ?? 0) }
      }
      return { k in
        for i in 0..<k { store.commit { $0.todos[id: i % 100]?.isDone.toggle() } }
        withExtendedLifetime(token) {}
      }
    }
  }
}
