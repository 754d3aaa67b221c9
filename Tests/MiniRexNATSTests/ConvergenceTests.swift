#if NATS
import Foundation
import MiniRex
import MiniRexNATS
import MiniRexTesting
import TestSupport
import Testing

/// Values expire, and servers are restored from an old copy of their files.
@Suite(.heavy)
struct ConvergenceTests {
  @Test(arguments: [NATSCatchUp.latest, .everyRevision])
  func `N7 a watcher emits the absence of a value that expired`(_ way: NATSCatchUp) async throws {
    let server = try await NATSServer.keeping()
    let nats = NATSConnection(server.url)
    var options = NATSBucketOptions()
    options.maxAge = .seconds(3)
    let bucket = nats.bucket("config")
    #expect(await bucket.create(options).hasSucceeded())
    let recorder = Recorder(bucket.publishedValue(of: Int.self, for: "count", catchingUp: way))
    await nats.isWatching("KV_config")
    #expect(await bucket.put(1, for: "count").hasSucceeded())
    #expect(await holds(recorder.updates.contains(1)))

    #expect(await holds(recorder.updates == [nil, 1, nil]))
    await nats.close()
  }

  @Test(arguments: [NATSCatchUp.latest, .everyRevision])
  func `N7 a watcher follows a bucket that was restored`(_ way: NATSCatchUp) async throws {
    let server = try await NATSServer.keeping()
    let nats = NATSConnection(server.url)
    let bucket = nats.bucket("config")
    #expect(await bucket.create().hasSucceeded())
    for number in 1...2 { #expect(await bucket.put(number, for: "count").hasSucceeded()) }
    try await server.backUp()
    let diagnostics = Recorder(nats.diagnostics)
    let recorder = Recorder(bucket.publishedValue(of: Int.self, for: "count", catchingUp: way))
    for number in 3...6 {
      #expect(await holds(await bucket.put(number, for: "count").hasSucceeded()))
    }
    #expect(await holds(recorder.updates.last == 6))

    try await server.restore()

    #expect(await holds(recorder.updates.last == 2))
    #expect(
      diagnostics.updates.contains { diagnostic in
        if case .rolledBack("KV_config", _) = diagnostic { true } else { false }
      })
    #expect(await holds(await bucket.put(7, for: "count").hasSucceeded()))
    #expect(await holds(recorder.updates.last == 7))
    await nats.close()
  }

  @Test func `N8 a reader of a restored stream receives no message twice`() async throws {
    let server = try await NATSServer.keeping()
    let nats = NATSConnection(server.url)
    let stream = nats.stream("board")
    #expect(await stream.create().hasSucceeded())
    for number in 1...6 { #expect(await stream.append(number).hasSucceeded()) }
    try await server.backUp()
    let diagnostics = Recorder(nats.diagnostics)
    let recorder = Recorder(stream.broadcaster(of: Int.self, from: .beginning))
    for number in 7...10 { #expect(await holds(await stream.append(number).hasSucceeded())) }
    #expect(await recorder.next(10).map(\.payload) == Array(1...10))

    try await server.restore()
    await nats.isEventually(.connected)
    for number in 11...15 { #expect(await holds(await stream.append(number).hasSucceeded())) }

    #expect(await holds(recorder.updates.count >= 15))
    #expect(recorder.updates.map(\.payload) == Array(1...15))
    #expect(recorder.updates.map(\.sequence) == Array(1...10) + Array(7...11))
    #expect(
      diagnostics.updates.count { diagnostic in
        if case .rolledBack("board", _) = diagnostic { true } else { false }
      } == 1)
    await nats.close()
  }

  @Test func `N15 a server that went back is noticed`() async throws {
    let server = try await NATSServer.keeping()
    let nats = NATSConnection(server.url)
    let (bucket, stream) = (nats.bucket("config"), nats.stream("board"))
    #expect(await bucket.create().hasSucceeded())
    #expect(await stream.create().hasSucceeded())
    #expect(await bucket.put("dark", for: "theme").hasSucceeded())
    for number in 1...2 {
      #expect(await bucket.put(number, for: "count").hasSucceeded())
      #expect(await stream.append(number).hasSucceeded())
    }
    try await server.backUp()
    let proxy = try Proxy(to: server.address)
    let watching = NATSConnection(proxy.url)
    let diagnostics = Recorder(watching.diagnostics)
    let value = Recorder(watching.bucket("config").publishedValue(of: Int.self, for: "count"))
    let theme = Recorder(watching.bucket("config").publishedValue(of: String.self, for: "theme"))
    let messages = Recorder(watching.stream("board").broadcaster(of: Int.self, from: .beginning))
    for number in 3...6 {
      await until(await bucket.put(number, for: "count").hasSucceeded())
      await until(await stream.append(number).hasSucceeded())
    }
    await until(await bucket.put("light", for: "theme").hasSucceeded())
    await until { value.updates.last == 6 && messages.updates.last?.payload == 6 }
    await until { theme.updates.last == "light" }

    // The restored server has other content up to the same revision before the watcher returns.
    proxy.cut()
    await watching.isEventually(.reconnecting)
    try await server.restore()
    await until(
      await bucket.publishedEntry(of: Int.self, for: "count").firstResult { $0.value } == 2)
    for number in 103...108 {
      await until(await bucket.put(number, for: "count").hasSucceeded())
      await until(await stream.append(number).hasSucceeded())
    }
    proxy.mend()

    await until { value.updates.last == 108 && messages.updates.last?.payload == 108 }
    await until { theme.updates.last == "dark" }
    #expect(Array(messages.updates.map(\.payload).suffix(6)) == Array(103...108))
    for name in ["KV_config", "board"] {
      #expect(
        diagnostics.updates.count { diagnostic in
          if case .rolledBack(name, _) = diagnostic { true } else { false }
        } == 1)
    }
    await watching.close()
    await nats.close()
  }
}
#endif
