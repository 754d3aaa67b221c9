import MiniRex
import MiniRexReplica
import MiniRexStore
import Testing

// The samples of the article and of the doc comments.

struct ArticleSamples {
  struct Board: Codable, Sendable {
    var owners: [String: String] = [:]
  }

  enum BoardAction: Codable, Sendable {
    case claimed(String, by: String)
    case released(String)
  }

  struct Taken: Error {}

  @Test func `the claims of two processes are decided alike`() async throws {
    @Sendable func reduce(_ board: inout Board, _ action: BoardAction) -> Effect<BoardAction> {
      switch action {
      case .claimed(let card, let name): board.owners[card] = name
      case .released(let card): board.owners[card] = nil
      }
      return .none
    }

    @Sendable func validate(_ board: Board, _ action: BoardAction) throws {
      if case .claimed(let card, _) = action, board.owners[card] != nil { throw Taken() }
    }

    var printed: [String] = []
    func print(_ value: Any) { printed.append("\(value)") }

    let log = MemoryLog()
    let (link, other) = (log.link(), log.link())
    let ann = try Replica(Board(), of: link, reducer: reduce, validating: validate)
    let bob = try Replica(Board(), of: other, reducer: reduce, validating: validate)

    link.cut()
    let claim = ann.send(.claimed("card", by: "Ann"))
    print(ann.store.state.owners)  // ["card": "Ann"], although nobody else knows it.

    bob.send(.claimed("card", by: "Bob"))
    try await bob.flush()
    link.connect()
    try await ann.caughtUp()
    print(ann.store.state.owners)  // ["card": "Bob"], in both processes.
    if case .failure(let error)? = await claim.result { print(error) }  // The action was rejected: Taken()

    #expect(printed == [#"["card": "Ann"]"#, #"["card": "Bob"]"#, "The action was rejected: Taken()"])
    try undoing(ann)
    await ann.close()
    await bob.close()
  }

  private func undoing(_ replica: Replica<Board, BoardAction>) throws {
    let undo = UndoLog(of: replica) { board, action in
      switch action {
      case .claimed(let card, _): .released(card)
      case .released(let card): board.owners[card].map { .claimed(card, by: $0) }
      }
    }
    replica.send(.claimed("card", by: "Ann"))
    undo.undo()
  }

  private func pending(_ card: String) throws {
    @Sendable func reduce(_ board: inout Board, _ action: BoardAction) -> Effect<BoardAction> {
      .none
    }

    let log = MemoryLog()
    let link = log.link()
    let replica = try Replica(Board(), of: link, reducer: reduce)
    link.cut()
    replica.send(.claimed(card, by: "Ann"))  // Pending until `link.connect()`.
  }
}
