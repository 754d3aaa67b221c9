#if NATS
import Foundation
import MiniRex
import MiniRexNATS
import MiniRexNATSStore
import MiniRexReplica
import MiniRexStore
import MiniRexTesting
import TestSupport
import Testing
@testable import nats_guest

/// Random faults of a server and of the networks of three replicas.
///
/// `MINIREX_SCALE` multiplies the number of faults.
@Suite(.heavy)
struct ReplicaStormTests {
  @Test func `a storm of faults loses, doubles, and reorders no action`() async throws {
    let server = try await NATSServer.keeping()
    let nats = NATSConnection(server.url)
    let (log, stream) = (nats.log("ledger"), nats.stream("ledger"))
    var streamOptions = NATSStreamOptions()
    streamOptions.duplicateWindow = .milliseconds(200)
    #expect(await log.create(streamOptions).hasSucceeded())
    var options = NATSOptions()
    options.pingInterval = .milliseconds(200)
    options.reconnectWait = .milliseconds(50)
    options.connectTimeout = .milliseconds(500)
    let proxies = try (0..<3).map { _ in try Proxy(to: server.address) }
    let far = proxies.map { NATSConnection($0.url, options: options) }
    let names = ["a", "b", "c"]
    let replicas = try far.map {
      try LedgerReplica.make($0.log("ledger", snapshotEvery: 50, keeping: 1_000_000))
    }
    let sent = Shared<[Recorder<Result<ReplicaConfirmation, ReplicaError>>]>([])
    var counts = [0, 0, 0]
    func send(_ count: Int) {
      for (index, replica) in replicas.enumerated() {
        for _ in 0..<count {
          counts[index] += 1
          let amount = Double(counts[index]) + 0.5
          sent.append(Recorder(replica.send(.entered(amount, by: names[index]))))
        }
      }
    }

    var strangers = 0
    for _ in 0..<scaled(30) {
      send(10)
      let proxy = proxies.randomElement() ?? proxies[0]
      switch Int.random(in: 0..<8) {
      case 0: proxy.cut()
      case 1: proxy.loseAnswers()
      case 2: proxy.hold()
      case 3, 4: proxy.strand()
      case 5:
        await server.stop()
        try await server.start()
      case 6:
        server.send(SIGSTOP)
        try await Task.sleep(for: .milliseconds(.random(in: 0...600)))
        server.send(SIGCONT)
      default:
        strangers += 1
        try nats.publish("nonsense", on: "ledger")
      }
      try await Task.sleep(for: .milliseconds(.random(in: 0...600)))
      for proxy in proxies where Bool.random() {
        proxy.mend()
        proxy.pass()
      }
    }
    for proxy in proxies {
      proxy.mend()
      proxy.pass()
    }

    for recorder in sent.value {
      switch await recorder.next().first {
      // A snapshot contains the decision.
      case .success?, .failure(.unresolved)?: break
      case let result: Issue.record("\(String(describing: result))")
      }
    }
    for replica in replicas {
      try await replica.caughtUp()
      #expect(replica.progress.current()?.trouble == nil)
      #expect(replica.store.state.text == replicas[0].store.state.text)
    }
    for (name, count) in zip(names, counts) {
      let lines = replicas[0].store.state.lines.filter { $0.hasPrefix(name) }
      #expect(lines == (1...count).map { "\(name) \(Double($0) + 0.5)" })
    }
    let late = try LedgerReplica.make(log)
    try await late.caughtUp()
    #expect(late.store.state.text == replicas[0].store.state.text)
    let stamps = await contents(of: stream).compactMap { $0.headers["MiniRex-Replica"] }
    print(
      "\(sent.value.count) actions, \(stamps.count - Set(stamps).count) late copies,",
      "\(strangers) strangers")
    for replica in replicas + [late] { await replica.close() }
    for connection in far + [nats] { await connection.close() }
  }

  private func contents(of stream: NATSStream) async -> [NATSStreamMessage<Data>] {
    var messages: [NATSStreamMessage<Data>] = []
    for await message in stream.broadcaster(of: Data.self, from: .beginning).values(.unbounded) {
      messages.append(message)
      if message.pending == 0 { break }
    }
    return messages
  }
}
#endif
