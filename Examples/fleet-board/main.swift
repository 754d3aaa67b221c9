#if NATS
import MiniRex
import MiniRexFleet
import MiniRexNATS
import MiniRexStore

struct Board: Encodable, Sendable { var cards: [String] = [] }

// The graph contains the sources and the stores that are created from now on.
let graph = LiveGraph()
setDefaultInstrument(graph)

let arguments = CommandLine.arguments
let nats = NATSConnection(arguments.count > 1 ? arguments[1] : "nats://127.0.0.1:4222")
let board = Store(Board(), name: "board") { (board: inout Board, card: String) in
  board.cards.append(card)
  return .none
}
let member = FleetMember(
  of: "production", over: nats, name: "board", version: "1.0.0", inspecting: graph)
member.ready(when: nats.isReady, name: "nats")
member.watch(board)
let page = try FleetPage(of: "production", over: nats)
print("Look at \(page.url)")

while let card = readLine() { board.send(card) }
#else
print("Build with the trait: swift run --traits NATS fleet-board")
#endif
