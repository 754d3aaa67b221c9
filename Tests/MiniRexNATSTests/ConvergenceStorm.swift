#if NATS
import Foundation
import MiniRex
import MiniRexNATS
import MiniRexTesting
import TestSupport
import Testing

/// Random removals, restores, restarts, and cut connections, after which everything has to agree.
@Suite(.heavy)
struct ConvergenceStorm {
  @Test(arguments: [1, 2, 3])
  func `N7 watchers agree with the bucket after random faults`(_ seed: UInt64) async throws {
    var random = Seeded(seed)
    let server = try await NATSServer.keeping()
    let proxy = try Proxy(to: server.address)
    let (writer, watching) = (NATSConnection(server.url), NATSConnection(proxy.url))
    let (bucket, stream) = (writer.bucket("config"), writer.stream("board"))
    let keys = (0..<4).map { "key.\($0)" }
    #expect(await bucket.create().hasSucceeded())
    #expect(await stream.create().hasSucceeded())
    for key in keys { #expect(await bucket.put(0, for: key).hasSucceeded()) }
    try await server.backUp()
    let all = Recorder(watching.bucket("config").publishedEntries(of: Int.self))
    let ways = [NATSCatchUp.latest, .everyRevision]
    let values = ways.map { way in
      keys.map {
        Recorder(
          watching.bucket("config").publishedValue(of: Int.self, for: $0, catchingUp: way))
      }
    }
    let reader = Recorder(watching.stream("board").broadcaster(of: Int.self, from: .new))
    let worker = Recorder(watching.stream("board").work(of: Int.self, durable: "billing")) {
      $0.ack()
    }
    var log: [String] = []
    // A reader of new messages begins at the end of the stream, whenever that is.
    while reader.updates.isEmpty, !Task.isCancelled {
      #expect(await stream.append(0).hasSucceeded())
      try await Task.sleep(for: .milliseconds(10))
    }

    for number in 1...max(4, scaled(12)) {
      let action = Int.random(in: 0..<8, using: &random)
      log.append("\(action)")
      switch action {
      case 0:
        _ = await bucket.remove().result
        #expect(await holds(await bucket.create().hasSucceeded()))
      case 1: try await server.restore()
      case 2:
        await server.stop()
        try await server.start()
      case 3:
        proxy.cut()
        _ = await bucket.put(number, for: keys[0]).result
        proxy.mend()
      case 4: await writer.removeConsumers(of: writer.stream("KV_config"))
      case 5:
        await writer.removeConsumers(of: stream)
        _ = await stream.append(number, timeout: .seconds(1)).result
      case 6:
        _ = await stream.remove().result
        #expect(await holds(await stream.create().hasSucceeded()))
      default: _ = await bucket.delete(keys[number % 4]).result
      }
      for key in keys where Bool.random(using: &random) {
        _ = await bucket.put(number, for: key).result
      }
    }

    await writer.isEventually(.connected)
    #expect(await holds(await bucket.put(1_000, for: keys[0]).hasSucceeded()))
    #expect(await holds(await stream.append(1_000).hasSucceeded()))
    let fresh = Recorder(writer.bucket("config").publishedEntries(of: Int.self))
    #expect(await holds(fresh.updates.last?[keys[0]] == 1_000))
    let truth = fresh.updates.last ?? [:]
    #expect(await holds(within: .seconds(40), all.updates.last == truth), "\(log) \(truth)")
    for (way, recorders) in values.enumerated() {
      for (key, recorder) in zip(keys, recorders) {
        #expect(
          await holds(recorder.updates.last == .some(truth[key])),
          "\(log) \(ways[way]) \(key) \(recorder.updates) \(truth)")
      }
    }
    #expect(await holds(reader.updates.last?.payload == 1_000), "\(log)")
    #expect(await holds(worker.updates.contains { $0.payload == 1_000 }), "\(log)")
    await watching.close()
    await writer.close()
  }

  @Test func `N7 a watcher notices within a minute that its stream was purged`() async throws {
    let server = try await NATSServer.keeping()
    let nats = NATSConnection(server.url)
    let bucket = nats.bucket("config")
    #expect(await bucket.create().hasSucceeded())
    #expect(await bucket.put(1, for: "count").hasSucceeded())
    let values = Recorder(bucket.publishedValue(of: Int.self, for: "count"))
    #expect(await holds(values.updates.last == 1))

    #expect(await nats.stream("KV_config").purge().hasSucceeded())

    #expect(await holds(within: .seconds(60), values.updates == [nil, 1, nil]))
    await nats.close()
  }
}

extension NATSConnection {
  fileprivate func removeConsumers(of stream: NATSStream) async {
    for name in await consumers(of: stream).values(of: "name") {
      _ = await request(
        String.self, "", on: "$JS.API.CONSUMER.DELETE.\(stream.name).\(name)",
        timeout: .seconds(5)
      ).result
    }
  }
}

/// The generator of SplitMix64.
private struct Seeded: RandomNumberGenerator {
  private var state: UInt64

  init(_ seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = state
    value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
    return value ^ (value >> 31)
  }
}
#endif
