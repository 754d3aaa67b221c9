#if NATS
import MiniRex
import MiniRexFleet
import MiniRexNATS
import MiniRexNATSStore
import MiniRexReplica
import MiniRexStore

// The samples of the article and the doc comments, compiled and not run.

private struct Board: Codable, Sendable { var cards: [String] = [] }

private func reduce(_ board: inout Board, _ card: String) -> Effect<String> {
  board.cards.append(card)
  return .none
}

private func sampleOfMembers(_ nats: NATSConnection, _ graph: LiveGraph) {
  let member = FleetMember(
    of: "production", over: nats, name: "billing", version: "1.4.2", inspecting: graph)
  member.ready(when: nats.isReady, name: "nats")
}

private func sampleOfReplicas(_ nats: NATSConnection, _ member: FleetMember) throws {
  let log = nats.log("board")
  let replica = try Replica(Board(), of: log, verifies: true, reducer: reduce)
  member.watch(replica, name: "board")
}

private func sampleOfPages(_ nats: NATSConnection) throws {
  let page = try FleetPage(of: "production", over: nats, port: 8080)
  print("Look at \(page.url)")
}
#endif
