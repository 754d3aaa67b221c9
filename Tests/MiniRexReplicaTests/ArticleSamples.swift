import MiniRex
import MiniRexReplica
import MiniRexStore
import TestSupport
import Testing

/// The samples of the article and of the doc comments.
@Suite(.light) struct ArticleSamples {
  @Test func `the claims of two processes are decided alike`() async throws {
    struct Board: Codable, Sendable {
      var owners: [String: String] = [:]
    }

    enum BoardAction: Codable, Sendable {
      case claimed(String, by: String)
      case released(String)
    }

    struct Taken: Error {}

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
    @Sendable func print(_ values: Any...) {}

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
    // The action was rejected: Taken()
    if case .failure(let error)? = await claim.result { print(error) }

    let lines = [#"["card": "Ann"]"#, #"["card": "Bob"]"#, "The action was rejected: Taken()"]
    #expect(printed == lines)
    for replica in [ann, bob] { await replica.close() }

    func sampleOfProgress(_ replica: Replica<Board, BoardAction>) {
      let subscription = replica.progress.subscribe { progress in
        print(progress.phase, progress.behind, progress.pending)
      }
      withExtendedLifetime(subscription) {}
    }

    func sampleOfUndo(_ replica: Replica<Board, BoardAction>) {
      let undo = UndoLog(of: replica) { board, action in
        switch action {
        case .claimed(let card, _): .released(card)
        case .released(let card): board.owners[card].map { .claimed(card, by: $0) }
        }
      }
      replica.send(.claimed("card", by: "Ann"))
      undo.undo()
    }

    func sampleOfMemoryLog(_ card: String) throws {
      let log = MemoryLog()
      let link = log.link()
      let replica = try Replica(Board(), of: link, reducer: reduce)
      link.cut()
      replica.send(.claimed(card, by: "Ann"))  // Pending until `link.connect()`.
    }
  }
}
