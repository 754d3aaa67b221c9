#if NATS
import Foundation
import MiniRex
import MiniRexNATS
import MiniRexNATSStore
import MiniRexReplica
import MiniRexTesting
import TestSupport
import Testing

/// Optimistic replicas over a cluster of three, during its faults.
///
/// `MINIREX_FAULT` names a single fault. The tests print the time until all replicas agree again.
@Suite(.heavy)
struct ReplicaClusterTests {
  enum Fault: String, CaseIterable, Sendable {
    case leaderKilled, followerKilled, twoKilled, allKilled
    case leaderStopped, rollingRestart, lameDuck
    /// Each server is killed in turn, and the replicas know the URL of the first only.
    case oneURL

    static var chosen: [Fault] {
      let name = ProcessInfo.processInfo.environment["MINIREX_FAULT"]
      return name.map { name in allCases.filter { $0.rawValue == name } } ?? allCases
    }
  }

  @Test func `O2 a fault of a cluster loses, doubles, and reorders no action`() async throws {
    // The servers wait for elections most of the time. A sanitizer leaves no time for two clusters.
    let width = scale < 1 ? 1 : Fault.allCases.count
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (index, fault) in Fault.chosen.enumerated() {
        if index >= width { try await group.next() }
        group.addTask { try await heal(from: fault) }
      }
      try await group.waitForAll()
    }
  }

  private func heal(from fault: Fault) async throws {
    let cluster = try await Cluster(advertises: fault == .oneURL)
    // Not through the proxies.
    let nats = NATSConnection(cluster.servers.map(\.url))
    let log = try await clusterLog("ledger", over: nats)
    let urls = fault == .oneURL ? [cluster.urls[0]] : cluster.urls
    let connections = (0..<3).map { _ in NATSConnection(urls) }
    let senders = try NumberedSenders(
      over: connections.map { $0.log("ledger", snapshotEvery: 500) }, checkedBy: log)
    senders.begin()
    _ = await senders.progress()

    let leader = try #require(await nats.leader(of: nats.stream("ledger")))
    // Entries of this moment are in the stream without an answer.
    cluster.loseAnswers()
    try await Task.sleep(for: .milliseconds(100))
    cluster.cutClients()
    let meanwhile = try await cluster.suffer(fault, leader, of: senders, over: nats)
    // All servers are back.
    let healed = await senders.heal()

    print("\(fault): \(healed) until all agree, \(meanwhile)")
    try await senders.check()
    for connection in connections + [nats] { await connection.close() }
  }
}

/// Creates a log on all servers of a cluster, once these have elected a leader.
func clusterLog(_ name: String, over nats: NATSConnection) async throws -> NATSLog {
  let log = nats.log(name, snapshotEvery: 500)
  await until(await log.create(replicas: 3).hasSucceeded())
  return log
}

extension NATSConnection {
  /// A Boolean value that indicates whether the servers of a cluster may keep different messages of one stream.
  ///
  /// A leader of server 2.9.10 that was stopped, or cut off from the others, has kept messages that the others did not
  /// have, at the sequences of other messages. Its readers then received a different stream.
  var divergesAfterPauses: Bool {
    let parts = (serverVersion ?? "").split(separator: ".").prefix(2).compactMap { Int($0) }
    return parts.lexicographicallyPrecedes([2, 10])
  }

  /// Returns a Boolean value that indicates whether two followers have all messages of a stream.
  fileprivate func isWhole(_ stream: String) async -> Bool {
    let info = await request(
      String.self, "", on: "$JS.API.STREAM.INFO.\(stream)", timeout: .seconds(2)
    ).success()
    return info?.components(separatedBy: #""current":true"#).count == 3
  }
}

extension Cluster {
  /// Returns when each server has caught up with the log and with its snapshots.
  func isWhole(over nats: NATSConnection) async throws {
    for stream in ["ledger", "KV_ledger-snapshots"] { await until(await nats.isWhole(stream)) }
  }

  /// Returns when all servers are back, with the time that the replicas needed without some of them.
  fileprivate func suffer(
    _ fault: ReplicaClusterTests.Fault, _ leader: Int, of senders: NumberedSenders,
    over nats: NATSConnection
  ) async throws -> String {
    let followers = [(leader + 1) % 3, (leader + 2) % 3]
    switch fault {
    case .leaderKilled: return try await kill([leader]) { await senders.progress() }
    case .followerKilled: return try await kill([followers[0]]) { await senders.progress() }
    case .twoKilled: return try await kill([leader, followers[0]])
    case .allKilled: return try await kill([leader] + followers)
    case .leaderStopped:
      servers[leader].send(SIGSTOP)
      try await Task.sleep(for: .seconds(10))
      if nats.divergesAfterPauses {
        try await servers[leader].restartEmpty()
        return "after 10 s, and a restart of the server without its files"
      }
      servers[leader].send(SIGCONT)
      return "after 10 s"
    case .rollingRestart, .oneURL:
      let order = fault == .oneURL ? [0, 1, 2] : followers + [leader]
      var times: [Duration] = []
      for index in order {
        _ = try await kill([index]) {
          times.append(await senders.progress())
          return .zero
        }
        try await isWhole(over: nats)
      }
      return "\(times) without each server"
    case .lameDuck:
      await servers[leader].retire()
      let time = await senders.progress()
      try await servers[leader].start()
      return "\(time) without the leader"
    }
  }

  /// - Parameter meanwhile: Returns the time that the replicas needed without the servers. By default, they have to
  ///   wait.
  private func kill(
    _ indices: [Int],
    meanwhile: () async throws -> Duration = {
      try await Task.sleep(for: .seconds(2))
      return .zero
    }
  ) async throws -> String {
    for index in indices { await servers[index].stop() }
    let time = try await meanwhile()
    for index in indices { try await servers[index].start() }
    return "\(time) without \(indices.count) servers"
  }
}
#endif
