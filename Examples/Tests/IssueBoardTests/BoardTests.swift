import MiniRex
import MiniRexStore
import MiniRexStoreTesting
import TestSupport
import Testing

@testable import issue_board

@Suite(.light) struct BoardTests {
  private let first = Comment(file: "A.swift", line: 3, text: "mend this")
  private let second = Comment(file: "A.swift", line: 9, text: "and that")

  private func outside(
    _ findings: Findings, thenTelling changes: Broadcaster<Findings>
  ) -> Outside {
    Outside { $0.isEmpty ? .sequence([findings]) : changes }
  }

  @Test func `findings become cards, and their folders are searched again once followed`()
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

  @Test func `changes in a folder and new folders are found`() async throws {
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
      // The reducer follows the new folders.
      changes.broadcast(findings)
      try await store.receive(.found(findings)) { $0.folders = ["/folder"] }
      store.cancelEffects()
    }
  }

  @Test func `a card keeps its column and text while its comment moves, and is removed with it`() {
    var state = Board()
    state.take([first, second])
    state.cards[id: 1]?.column = .doing
    state.cards[id: 1]?.text = "mended"
    var moved = first
    moved.line = 30

    state.take([moved])

    #expect(state.cards == [Card(id: 1, text: "mended", column: .doing, comment: moved)])
  }

  @Test func `a closed card stays closed while its comment exists`() async throws {
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

  @Test func `comments are found after each comment sign`() {
    let text = """
      // TODO: mend this
      let x = 1  // FIXME and that
      # TODO
      print("TODO: no comment")
      """

    // Both kinds of line ends.
    for text in [text, text.replacing("\n", with: "\r\n")] {
      #expect(
        comments(in: text, of: "f").map { "\($0.line) \($0.text)" } == [
          "1 mend this", "2 and that", "3 (no text)",
        ])
    }
  }

  @Test func `a comment ends before its closing sign, and may name its owner`() {
    let text = """
      <!-- TODO: mend this -->
      /* FIXME: and that */
      // TODO(ada): with a name
      // TODO() FIXMEs TODO: the second word
      # TODOS are no comment
      // FIXME -->
      -- TODO: é # TODO: again
      """

    #expect(
      comments(in: text, of: "f").map { "\($0.line) \($0.text) \($0.owner ?? "-")" } == [
        "1 mend this -", "2 and that -", "3 with a name ada", "4 FIXMEs TODO: the second word -",
        "6 (no text) -", "7 é # TODO: again -",
      ])
    #expect(comments(in: "// TODO: mend this\n\u{0}", of: "binary") == [])
  }

  @Test func `a card whose comment has an owner starts in doing`() {
    var state = Board()
    state.take([first, Comment(file: "A.swift", line: 4, text: "by ada", owner: "ada")])

    #expect(state.cards.map(\.column) == [.todo, .doing])
  }

  @Test func `equal comments in one file are different cards`() {
    var state = Board()
    var again = first
    again.line = 5
    state.take([first, again])
    state.cards[id: 1]?.column = .done

    state.take([again])

    #expect(state.cards == [Card(id: 1, text: "mend this", column: .done, comment: again)])
  }

  @Test func `a command becomes its action, or advice`() {
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
        == .refused("There is no column 'away'. Use todo, doing, or done."))
    guard case .refused(let advice) = Command("close 7", on: state) else {
      Issue.record("close 7 is possible")
      return
    }
    #expect(advice.contains("There is no card 7."))
  }

  @Test func `the text has a line for each card below its column`() {
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
