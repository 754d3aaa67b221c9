import MiniRex
import MiniRexInspector
import MiniRexStore

struct Board: Encodable, Sendable { var cards: [String] = [] }

// The graph contains the sources and the stores that are created from now on.
let graph = LiveGraph()
setDefaultInstrument(graph)

let board = Store(Board(), name: "board") { (board: inout Board, card: String) in
  board.cards.append(card)
  return .none
}
let inspector = try Inspector(of: graph)
inspector.watch(board)
print("Look at \(inspector.url)")

while let card = readLine() { board.send(card) }
