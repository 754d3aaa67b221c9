#if NATS
import Foundation
import MiniRex
import MiniRexFleet
import MiniRexInspector
import MiniRexNATS
import MiniRexNATSStore
import MiniRexReplica
import MiniRexStore
import TestSupport
import Testing
@testable import nats_guest

/// The metrics of connections and replicas.
@Suite(.heavy)
struct FleetMetricsTests {
  @Test func `N14 the inspector exports a connection and a replica`() async throws {
    let server = try await NATSServer.keeping()
    let nats = NATSConnection(server.url)
    #expect(await nats.log("ledger").create().hasSucceeded())
    let replica = try LedgerReplica.make(nats.log("ledger"))
    #expect(await replica.send(.entered(1, by: "a")).success()?.sequence == 1)
    try await replica.caughtUp()
    let inspector = try Inspector(of: LiveGraph())
    inspector.watch(nats)
    inspector.watch(replica, name: "board")

    let current = try await metrics(of: inspector)
    #expect(current.contains(#"minirex_nats_ready{name="NATS"} 1"#))
    #expect(current.contains { $0.hasPrefix(#"minirex_nats_messages_in_total{name="NATS"} "#) })
    #expect(current.contains(#"minirex_replica_current{name="board"} 1"#))
    #expect(current.contains(#"minirex_replica_sequence{name="board"} 1"#))
    #expect(current.contains(#"minirex_replica_pending{name="board"} 0"#))

    await server.stop()
    await nats.isEventually(.reconnecting)
    replica.send(.entered(2, by: "a"))
    await until {
      replica.progress.current().map { $0.pending == 1 && $0.phase == .offline } ?? false
    }
    let offline = try await metrics(of: inspector)
    #expect(offline.contains(#"minirex_nats_ready{name="NATS"} 0"#))
    #expect(offline.contains(#"minirex_replica_current{name="board"} 0"#))
    #expect(offline.contains(#"minirex_replica_pending{name="board"} 1"#))
    await replica.close()
    let closed = try await metrics(of: inspector)
    #expect(closed.contains(#"minirex_replica_stopped{name="board"} 1"#))
    await nats.close()
  }

  private func metrics(of inspector: Inspector) async throws -> [String] {
    let url = inspector.url.appending(path: "metrics")
    let data = try await Task.detached { try Data(contentsOf: url) }.value
    return String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
  }
}
#endif
