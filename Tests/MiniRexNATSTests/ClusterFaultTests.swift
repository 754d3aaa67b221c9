#if NATS
import Foundation
import MiniRex
import MiniRexNATS
import MiniRexTesting
import TestSupport
import Testing

/// Ten faults of a cluster of three.
///
/// `MINIREX_SCALE=20` makes each outage a minute or longer, and `MINIREX_FAULT` names a single fault.
@Suite(.heavy)
struct ClusterFaultTests {
  enum Fault: String, CaseIterable, Sendable {
    case leaderKilled, followerKilled, twoKilled, allKilled
    case leaderStopped, followerStopped, allStopped
    case rollingRestart, lameDuck, withoutNetwork

    static var chosen: [Fault] {
      let name = ProcessInfo.processInfo.environment["MINIREX_FAULT"]
      return name.flatMap { Fault(rawValue: $0) }.map { [$0] } ?? allCases
    }

    /// The servers elect another leader after about five seconds.
    var outage: Duration {
      switch self {
      case .leaderKilled, .leaderStopped, .twoKilled: .seconds(6)
      default: .seconds(3)
      }
    }
  }

  @Test(arguments: Fault.chosen)
  func `N8 a fault of a cluster loses, doubles, and reorders no acknowledged append`(
    _ fault: Fault
  ) async throws {
    let cluster = try await Cluster()
    var options = NATSOptions()
    options.pingInterval = .milliseconds(500)
    let connections = (0..<2).map { _ in NATSConnection(cluster.urls, options: options) }
    let stream = connections[0].stream("numbers")
    var streamOptions = NATSStreamOptions()
    streamOptions.replicas = 3
    streamOptions.duplicateWindow = .milliseconds(100)
    // It fails until the servers have elected a leader.
    await until(await stream.create(streamOptions).hasSucceeded())
    let list = NumberList(over: connections[0], stream: "numbers")
    async let appended: Void = list.run()
    let diagnostics = Recorder(connections[0].diagnostics)
    func progress(by count: Int) async {
      let goal = list.last.value + count
      await until { list.contradiction.value != nil || list.last.value >= goal }
    }

    await progress(by: 40)
    let began = ContinuousClock.now
    // Appends of this moment are in the stream without an answer.
    cluster.loseAnswers()
    try await Task.sleep(for: .milliseconds(100))
    try await cluster.suffer(fault, stream: stream, over: connections[1])
    let healed = ContinuousClock.now
    await progress(by: 40)
    print("\(fault): \(healed - began), then \(ContinuousClock.now - healed) until all continue")
    list.isOver.value = true
    await appended

    if let contradiction = list.contradiction.value {
      Issue.record("\(diagnostics.updates), \(contradiction)")
      return
    }
    // A consumer may be on a server that is still behind.
    var read: [NATSStreamMessage<Int>] = []
    for _ in 0..<60 where read.count < list.last.value {
      if !read.isEmpty { try await Task.sleep(for: .seconds(1)) }
      read = await contents(of: connections[1].stream("numbers"), as: Int.self)
    }
    #expect(read.allSatisfy { $0.missing == nil })
    #expect(read.map(\.payload) == Array(1...list.last.value))
    for connection in connections { await connection.close() }
  }

  private func contents<Payload: Codable & Sendable>(
    of stream: NATSStream, as type: Payload.Type
  ) async -> [NATSStreamMessage<Payload>] {
    var messages: [NATSStreamMessage<Payload>] = []
    for await message in stream.broadcaster(of: type, from: .beginning).values(.unbounded) {
      messages.append(message)
      if message.pending == 0 { break }
    }
    return messages
  }
}

/// Appends the numbers from 1, each once.
///
/// After a failure it continues at the end of the stream.
private final class NumberList: Sendable {
  let last = Shared(0)
  let isOver = Shared(false)
  let contradiction = Shared<String?>(nil)
  private let stream: NATSStream

  init(over nats: NATSConnection, stream: String) { self.stream = nats.stream(stream) }

  func run() async {
    while !isOver.value, !Task.isCancelled {
      let known = last.value
      let result = await stream.append(
        known + 1, expecting: UInt64(known), timeout: .seconds(1)
      ).result
      switch result {
      case .success(let sequence)?:
        if Int(sequence) != known + 1 { contradiction.value = "\(known + 1) is at \(sequence)" }
        last.value = Int(sequence)
      case .failure(.revision(let now?))?:
        if now < known { contradiction.value = "\(now) after \(known) was acknowledged" }
        last.value = max(known, Int(now))
      default: try? await Task.sleep(for: .milliseconds(10))
      }
    }
  }
}

extension Cluster {
  /// Returns when all servers are back.
  fileprivate func suffer(
    _ fault: ClusterFaultTests.Fault, stream: NATSStream, over nats: NATSConnection
  ) async throws {
    let outage = fault.outage * min(scale, 20)
    let leader = try #require(await nats.leader(of: stream))
    let followers = [(leader + 1) % 3, (leader + 2) % 3]
    switch fault {
    case .leaderKilled: try await kill([leader], for: outage)
    case .followerKilled: try await kill([followers[0]], for: outage)
    case .twoKilled: try await kill([leader, followers[0]], for: outage)
    case .allKilled: try await kill([leader] + followers, for: outage)
    case .leaderStopped where nats.divergesAfterPauses:
      servers[leader].send(SIGSTOP)
      try await Task.sleep(for: outage)
      try await servers[leader].restartEmpty()
    case .leaderStopped: try await stop([leader], for: outage)
    case .followerStopped: try await stop([followers[0]], for: outage)
    case .allStopped: try await stop([leader] + followers, for: outage)
    case .rollingRestart:
      for index in followers + [leader] {
        try await kill([index], for: .zero)
        _ = await nats.leader(of: stream)
      }
    case .lameDuck:
      await servers[leader].retire()
      try await servers[leader].start()
    case .withoutNetwork:
      holdNetwork()
      try await Task.sleep(for: outage)
      passNetwork()
    }
  }

  private func kill(_ indices: [Int], for outage: Duration) async throws {
    for index in indices { await servers[index].stop() }
    try await Task.sleep(for: outage)
    for index in indices { try await servers[index].start() }
  }

  private func stop(_ indices: [Int], for outage: Duration) async throws {
    for index in indices { servers[index].send(SIGSTOP) }
    try await Task.sleep(for: outage)
    for index in indices { servers[index].send(SIGCONT) }
  }
}
#endif
