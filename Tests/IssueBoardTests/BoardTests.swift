import MiniRex
import MiniRexStore
import MiniRexStoreTesting
import Testing

@testable import issue_board

@Suite(.timeLimit(.minutes(20))) struct BoardTests {
  private let first = Comment(file: "A.swift", line: 3, text: "mend this")
  private let second = Comment(file: "A.swift", line: 9, text: "and that")

  private func outside(
    _ findings: Findings, thenTelling changes: Broadcaster<Findings>
  ) -> Outside {
    Outside { $0.isEmpty ? .sequence([findings]) : changes }
  }

  @Test func `what is found becomes cards, and is looked for again once it is followed`()
    async throws
  {
    let findings = Findings(comments: [first, second], folders: ["/folder"])
    let outside = outside(findings, thenTelling: .sequence([findings]))
    try await withTestStore(Board(), reducer: board(outside)) { store in
      try store.send(.look)
      try await store.receive(.found(findings)) {
        $0.cards = [
          Card(id: 1, text: "mend this", comment: first),
          Card(id: 2, text: "and that", comment: second),
        ]
        $0.lastID = 2
        $0.folders = ["/folder"]
      }
      try await store.receive(.found(findings))
    }
  }

  @Test func `what changes in the folder is found, and that a folder is new`() async throws {
    let changes = BroadcastSource<Findings>()
    let findings = Findings(comments: [], folders: ["/folder"])
    let more = Findings(comments: [], folders: ["/folder", "/folder/new"])
    let outside = outside(findings, thenTelling: changes.publisher)
    try await withTestStore(Board(), reducer: board(outside)) { store in
      try store.send(.look)
      try await store.receive(.found(findings)) { $0.folders = ["/folder"] }
      changes.broadcast(findings)
      try await store.receive(.found(findings))
      changes.broadcast(more)
      try await store.receive(.found(more)) { $0.folders = more.folders }
      // Which are followed, too.
      changes.broadcast(findings)
      try await store.receive(.found(findings)) { $0.folders = ["/folder"] }
      store.cancelEffects()
    }
  }

  @Test func `cards keep their column and text while their comment moves, and go with it`() {
    var state = Board()
    state.take([first, second])
    state.cards[id: 1]?.column = .doing
    state.cards[id: 1]?.text = "mended"
    var moved = first
    moved.line = 30

    state.take([moved])

    #expect(state.cards == [Card(id: 1, text: "mended", column: .doing, comment: moved)])
  }

  @Test func `a closed card does not come back while its comment stands there`() async throws {
    var state = Board()
    state.take([first])
    let outside = Outside { _ in .sequence([]) }
    try await withTestStore(state, reducer: board(outside)) { store in
      try store.send(.close(1)) {
        $0.cards = []
        $0.closed = [first]
        $0.isByHand = true
      }
      try store.send(.found(Findings(comments: [first])))
      try store.send(.found(Findings())) {
        $0.closed = []
        $0.isByHand = false
      }
      try store.send(.found(Findings(comments: [first]))) {
        $0.cards = [Card(id: 2, text: "mend this", comment: first)]
        $0.lastID = 2
      }
    }
  }

  @Test func `comments are found behind each sign of a comment`() {
    let text = """
      // TODO: mend this
      let x = 1  // FIXME and that
      # TODO
      print("TODO: no comment")
      """

    // Lines end in two ways.
    for text in [text, text.replacing("\n", with: "\r\n")] {
      #expect(
        comments(in: text, of: "f").map { "\($0.line) \($0.text)" } == [
          "1 mend this", "2 and that", "3 (no words)",
        ])
    }
  }

  @Test func `commands say what they do, and what is possible`() {
    var state = Board()
    state.add("a card")

    #expect(Command("add to do", on: state) == .action(.add("to do")))
    #expect(Command("edit 1 two words", on: state) == .action(.edit(1, "two words")))
    #expect(Command("move 1 doing", on: state) == .action(.move(1, .doing)))
    #expect(Command("close 1", on: state) == .action(.close(1)))
    #expect(Command("undo", on: state) == .undo && Command("redo", on: state) == .redo)
    #expect(Command("list", on: state) == .list && Command("quit", on: state) == .quit)
    #expect(Command("", on: state) == .refused(Command.help))
    #expect(
      Command("move 1 away", on: state)
        == .refused("There is no column 'away'. Say todo, doing or done."))
    guard case .refused(let advice) = Command("close 7", on: state) else {
      Issue.record("close 7 is possible")
      return
    }
    #expect(advice.contains("There is no card 7."))
  }

  @Test func `the picture has a line for each card below its column`() {
    var state = Board()
    state.take([first])
    state.add("by hand")
    state.cards[id: 2]?.column = .done

    #expect(
      state.picture == """
        todo
          1  mend this  (A.swift:3)
        doing
        done
          2  by hand

        """)
  }
}
