#if NATS
import Foundation
import MiniRex
import MiniRexNATS
import MiniRexNATSStore
import MiniRexStore
import MiniRexTesting
import TestSupport
import Testing
@testable import nats_guest

/// Random faults of a server and of the networks of three replicas.
///
/// `MINIREX_SCALE` multiplies the number of faults.
@Suite(.timeLimit(.minutes(30)))
struct ReplicaStormTests {
  @Test func `a storm of faults loses, doubles, and reorders no action`() async throws {
    let server = try await NATSServer.keeping()
    let nats = NATSConnection(server.url)
    let stream = nats.stream("ledger")
    var streamOptions = NATSStreamOptions()
    streamOptions.duplicateWindow = .milliseconds(200)
    streamOptions.subjects = ["ledger", "ledger.>"]
    #expect(await stream.create(streamOptions).hasSucceeded())
    #expect(await nats.bucket("snapshots").create().hasSucceeded())
    var options = NATSOptions()
    options.pingInterval = .milliseconds(200)
    options.reconnectWait = .milliseconds(50)
    options.connectTimeout = .milliseconds(500)
    let proxies = try (0..<3).map { _ in try Proxy(to: server.address) }
    let far = proxies.map { NATSConnection($0.url, options: options) }
    let names = ["a", "b", "c"]
    let replicas = try await [
      LedgerReplica(
        Ledger(), of: "ledger", over: far[0], snapshotsIn: "snapshots", snapshotEvery: 50,
        reducer: reduce),
      LedgerReplica(
        Ledger(), of: "ledger", over: far[1], snapshotsIn: "snapshots", snapshotEvery: 50,
        reducer: reduce),
      LedgerReplica(
        Ledger(), of: "ledger", over: far[2], snapshotsIn: "snapshots", snapshotEvery: 50,
        reducer: reduce),
    ]
    let sent = Shared<[Recorder<Result<UInt64, NATSError>>]>([])
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
        try nats.publish("nonsense", on: Bool.random() ? "ledger" : "ledger.elsewhere")
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
      guard case .success? = await recorder.next().first else {
        Issue.record("\(recorder.updates)")
        continue
      }
    }
    let last = await contents(of: stream).last?.sequence ?? 0
    for replica in replicas {
      await until {
        replica.sequence.current() ?? 0 >= last || replica.failure.current() != .some(nil)
      }
      #expect(replica.failure.current() == .some(nil))
      #expect(replica.store.state.text == replicas[0].store.state.text)
    }
    for (name, count) in zip(names, counts) {
      let lines = replicas[0].store.state.lines.filter { $0.hasPrefix(name) }
      #expect(lines == (1...count).map { "\(name) \(Double($0) + 0.5)" })
    }
    let late = try await LedgerReplica(Ledger(), of: "ledger", over: nats, reducer: reduce)
    await until { late.sequence.current() ?? 0 >= last }
    #expect(late.store.state.text == replicas[0].store.state.text)
    let stamps = await contents(of: stream).compactMap { $0.headers["MiniRex-Replica"] }
    print(
      "\(sent.value.count) actions, \(stamps.count - Set(stamps).count) late copies,",
      "\(strangers) strangers")
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
