import Foundation
import MiniRex
import MiniRexInspector
import MiniRexStore
import Testing

/// The samples of the documentation, in a separate process, because they observe the entire
/// program.
@Suite(.timeLimit(.minutes(20))) struct InspectorSamples {
  @Test func `an inspector shows a program`() async {
    await #expect(processExitsWith: .success) {
      let graph = LiveGraph()
      setDefaultInstrument(graph)
      let board = Store(Board(), name: "board", reducer: reduce)
      let inspector = try Inspector(of: graph)
      inspector.watch(board)
      print("Look at \(inspector.url)")

      board.send("first")
      precondition(inspector.url.absoluteString == "http://127.0.0.1:\(inspector.port)/")
      precondition(graph.tree().contains("board"))
    }
  }
}

private struct Board: Encodable, Sendable { var cards: [String] = [] }

private func reduce(_ board: inout Board, _ card: String) -> Effect<String> {
  board.cards.append(card)
  return .none
}
