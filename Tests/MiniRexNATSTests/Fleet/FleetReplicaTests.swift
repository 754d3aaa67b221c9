#if NATS
import Foundation
import MiniRex
import MiniRexFleet
import MiniRexNATS
import MiniRexNATSStore
import MiniRexReplica
import MiniRexStore
import MiniRexTesting
import TestSupport
import Testing

@Suite(.heavy)
struct FleetReplicaTests {
  private typealias Cards = Replica<[String], String>

  /// A process of the fleet with a replica of the log `board`.
  private struct Room {
    let nats: NATSConnection
    let replica: Cards
    let member: FleetMember

    init(_ name: String, _ url: String, appending text: String = "") throws {
      nats = NATSConnection(url)
      replica = try Cards([], of: nats.log("board", snapshotEvery: 10), verifies: true) {
        $0.append($1 + text)
        return .none
      }
      member = FleetMember(
        of: "production", over: nats, name: name, version: "1.0.0", inspecting: LiveGraph())
      member.watch(replica, name: "board")
    }
  }

  @Test func `M5 the process whose replica diverges is named`() async throws {
    let server = try await NATSServer.keeping()
    let nats = NATSConnection(server.url)
    #expect(await nats.log("board").create().hasSucceeded())
    let rooms = [
      try Room("one", server.url), try Room("two", server.url),
      try Room("odd", server.url, appending: " here"),
    ]
    let browser = try FleetBrowser(of: "production", over: nats)
    await until { browser.rows.count == 3 && browser.rows.allSatisfy { $0.concern == 0 } }

    for number in 1...10 { rooms[0].replica.send("card \(number)") }
    // Until all have reported the entry, two states are equally frequent.
    await until {
      browser.row("odd")?.differences == ["board"]
        && ["one", "two"].allSatisfy { browser.row($0)?.differences == nil }
    }
    #expect(browser.row("odd")?.concern == 4)
    for name in ["one", "two"] { #expect(browser.row(name)?.differences == nil) }

    for room in rooms { await room.nats.close() }
    await nats.close()
  }

  @Test func `M2 a row has the progress of its replicas`() async throws {
    let server = try await NATSServer.keeping()
    let nats = NATSConnection(server.url)
    #expect(await nats.log("board").create().hasSucceeded())
    let room = try Room("billing", server.url)
    let browser = try FleetBrowser(of: "production", over: nats)
    for number in 1...10 { room.replica.send("card \(number)") }

    await until { browser.row("billing")?.report.replicas.first?.snapshot != nil }
    let replica = try #require(browser.row("billing")?.report.replicas.first)
    #expect(replica.name == "board" && replica.phase == "current" && replica.sequence >= 1)
    #expect(replica.pending == 0 && browser.row("billing")?.concern == 0)
    let session = try await response(
      from: browser.page.port, to: "GET /process/\(room.member.id)/session HTTP/1.0\r\n\r\n")
    #expect(session.contains(#""name":"board""#))

    await room.replica.close()
    await until { browser.row("billing")?.concern == 3 }
    await room.nats.close()
    await nats.close()
  }
}
#endif
