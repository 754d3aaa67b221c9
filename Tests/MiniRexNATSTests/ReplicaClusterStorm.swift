#if NATS
import Foundation
import MiniRex
import MiniRexNATS
import MiniRexNATSStore
import MiniRexReplica
import MiniRexTesting
import TestSupport
import Testing

/// Random faults of a cluster of three, after which all replicas have to agree.
///
/// `MINIREX_SCALE` multiplies the number of faults.
@Suite(.heavy)
struct ReplicaClusterStorm {
  @Test func `O2 random partitions of a cluster lose, double, and reorder no action`()
    async throws
  {
    let seed = UInt64.random(in: 0 ... .max)
    var random = SeededGenerator(seed: seed)
    let cluster = try await Cluster()
    let nats = NATSConnection(cluster.servers.map(\.url))
    let log = try await clusterLog("ledger", over: nats)
    // Each replica has its own way to each server.
    let ways = try (0..<3).map { _ in try cluster.servers.map { try Proxy(to: $0.address) } }
    var options = NATSOptions()
    options.pingInterval = .milliseconds(500)
    let connections = ways.map { NATSConnection($0.map(\.url), options: options) }
    let senders = try NumberedSenders(
      over: connections.map { $0.log("ledger", snapshotEvery: 500) }, checkedBy: log)
    senders.begin()
    _ = await senders.progress()

    for _ in 0..<scaled(12) {
      let server = Int.random(in: 0..<3, using: &random)
      let replica = Int.random(in: 0..<3, using: &random)
      switch Int.random(in: (nats.divergesAfterPauses ? 3 : 0)..<7, using: &random) {
      case 0: for proxy in cluster.routes(of: server) { proxy.cut() }
      case 1: for proxy in cluster.routes(of: server) { proxy.hold() }
      // Two servers that do not reach each other, while both reach the third.
      case 2: for proxy in cluster.routes(between: server, (server + 1) % 3) { proxy.cut() }
      case 3: for way in ways { way[server].cut() }
      case 4: for proxy in ways[replica] { proxy.hold() }
      case 5: for proxy in ways[replica] { proxy.loseAnswers() }
      default: for proxy in ways[replica] { proxy.strand() }
      }
      try await Task.sleep(for: .milliseconds(.random(in: 0...2_000, using: &random)))
      for proxy in ways.flatMap({ $0 }) + cluster.routes where Bool.random(using: &random) {
        proxy.mend()
        proxy.pass()
      }
    }
    for proxy in ways.flatMap({ $0 }) + cluster.routes {
      proxy.mend()
      proxy.pass()
    }
    let healed = await senders.heal()

    print("partitions \(seed): \(healed) until all agree")
    try await senders.check()
    for connection in connections + [nats] { await connection.close() }
  }

  @Test func `O6 random kills of a cluster and of processes with an outbox lose no action`()
    async throws
  {
    let cluster = try await Cluster()
    let nats = NATSConnection(cluster.servers.map(\.url))
    _ = try await clusterLog("ledger", over: nats)
    let guests = try NoteGuests(["a", "b", "c"], cluster.urls.joined(separator: ","))

    for round in 0..<scaled(12) {
      try await Task.sleep(for: .milliseconds(.random(in: 50...400)))
      let server = cluster.servers[.random(in: 0..<3)]
      switch round % 6 {
      case 1:
        await server.stop()
        try await server.start()
      case 3:
        server.send(SIGSTOP)
        try await guests.replaceOne()
        server.send(SIGCONT)
      case 5: cluster.loseAnswers()
      default: try await guests.replaceOne()
      }
    }
    let began = ContinuousClock.now
    try await guests.check(over: nats.log("ledger", snapshotEvery: 50))

    print("kills: \(ContinuousClock.now - began) until all agree")
    await nats.close()
  }
}
#endif
