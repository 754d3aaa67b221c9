import MiniRex
import MiniRexStore
import TestSupport
import Testing

/// The code of the article on undo, and of the comments of `History`.
@Suite(.light) struct UndoSamples {
  struct List: Sendable, Equatable {
    var title = ""
    var lines: [String] = []
    var cursor = 0
  }

  enum ListAction: Sendable {
    case typed(String)
    case moved(to: Int)
    case named(String)
  }

  let paper = Paper()
  let store = Store(List()) { (state: inout List, action: ListAction) in
    switch action {
    case .typed(let line): state.lines.append(line)
    case .moved(let line): state.cursor = line
    case .named(let title): state.title = title
    }
    return .none
  }

  func print(_ line: Any) { paper.print("\(line)") }

  @Test func `undo restores a list`() {
    let history = History(of: store)
    store.send(.typed("Milk"))
    store.send(.typed("Bread"))
    history.undo()
    print(store.state.lines)  // ["Milk"]
    history.redo()
    print(store.state.lines)  // ["Milk", "Bread"]

    #expect(paper.lines == [#"["Milk"]"#, #"["Milk", "Bread"]"#])
  }

  @Test func `two buttons follow the history`() {
    let print = paper.print
    let history = History(of: store)
    let buttons = [
      history.canUndo.subscribe { print("undo \($0 ? "on" : "off")") },
      history.canRedo.subscribe { print("redo \($0 ? "on" : "off")") },
    ]
    store.send(.typed("Milk"))
    history.undo()

    #expect(paper.lines == ["undo off", "redo off", "undo on", "undo off", "redo on"])
    withExtendedLifetime(buttons) {}
  }

  @Test func `a cursor movement joins the typed word`() {
    let history = History(of: store, limit: 50) { commit in
      if case .action(.moved) = commit.cause { false } else { true }
    }
    store.send(.typed("Milk"))
    store.send(.moved(to: 1))
    history.undo()

    #expect(store.state == List())
  }

  @Test func `a child has a separate history`() {
    let title = History(of: store.scope(\.title) { ListAction.named($0) })
    store.send(.named("Groceries"))
    store.send(.typed("Eggs"))
    title.undo()
    print(store.state)  // the old title, and the eggs

    #expect(store.state == List(lines: ["Eggs"]))
  }
}
