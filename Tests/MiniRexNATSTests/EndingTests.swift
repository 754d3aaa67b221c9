#if NATS
import Foundation
import MiniRex
import MiniRexNATS
import MiniRexTesting
import TestSupport
import Testing

@Suite(.heavy, .serialized)
struct EndingTests {
  @Test func `N5 a canceled subscription unsubscribes at the server`()
    async throws
  {
    let server = try await NATSServer("http: \"127.0.0.1:-1\"")
    let nats = NATSConnection(server.url)
    let messages = nats.broadcaster(of: Int.self, on: "numbers")
    let calls = Shared(0)
    let released = Witness()
    let token = messages.subscribe { [released] _ in
      withExtendedLifetime(released) { _ = calls.increment() }
    }
    let other = Recorder(nats.broadcaster(of: Int.self, on: "numbers"))
    try nats.publish(1, on: "numbers")
    _ = await other.next()
    await until { calls.value == 1 }

    token.invalidate()
    try nats.publish(2, on: "numbers")
    _ = await other.next()
    try await nats.areSubscribed()

    #expect(calls.value == 1)
    await nats.close()
  }

  @Test func `N5 closing sends and delivers pending messages, then finishes the publishers`()
    async throws
  {
    let server = try await NATSServer()
    // A loaded machine takes longer to deliver the received messages.
    var options = NATSOptions()
    options.drainTimeout = .seconds(100)
    let sender = NATSConnection(server.url)
    let receiver = NATSConnection(server.url, options: options)
    let watcher = Recorder(sender.broadcaster(of: Int.self, on: "numbers"))
    let recorder = Recorder(receiver.broadcaster(of: Int.self, on: "numbers")) { _ in
      usleep(100)
    }
    try await receiver.areSubscribed()
    try await sender.areSubscribed()
    for number in 0..<2_000 { try receiver.publish(number, on: "numbers") }
    _ = await recorder.next()

    await receiver.close()

    #expect(await watcher.next(2_000).count == 2_000)
    await until { recorder.hasEnded }
    #expect(recorder.updates.map(\.payload) == Array(0..<2_000))
    #expect(receiver.status.current() == .closed(nil))
    #expect(throws: NATSError.closed) { try receiver.publish(1, on: "numbers") }
    let late = Recorder(receiver.broadcaster(of: Int.self, on: "numbers"))
    #expect(!late.isSubscribed)
    await sender.close()
  }

  @Test func `N5 releasing the connection closes it without waiting`() async throws {
    let server = try await NATSServer()
    let watching = NATSConnection(server.url)
    let watcher = Recorder(watching.broadcaster(of: Int.self, on: "numbers"))
    try await watching.areSubscribed()
    var nats: NATSConnection? = NATSConnection(server.url)
    let recorder = Recorder(try #require(nats).broadcaster(of: Int.self, on: "numbers"))
    let status = try #require(nats).status
    try await #require(nats).areSubscribed()
    for number in 0..<100 { try nats?.publish(number, on: "numbers") }

    nats = nil

    #expect(await watcher.next(100).count == 100)
    _ = await status.firstResult { $0 == .closed(nil) ? true : nil }
    await until { recorder.hasEnded }
    #expect(recorder.updates.count == 100)
    await watching.close()
  }

  @Test func `N5 closing before the first connection reports the unsent messages`()
    async throws
  {
    let nats = NATSConnection(try Address().url)
    let diagnostics = Recorder(nats.diagnostics)
    let recorder = Recorder(nats.broadcaster(of: Int.self, on: "numbers"))
    try nats.publish(1, on: "numbers")

    await nats.close()

    #expect(nats.status.current() == .closed(nil))
    #expect(diagnostics.updates.last == .notSent(subject: "numbers", .closed))
    #expect(recorder.hasEnded)
  }

  @Test func `N5 closing while the connection is lost does not wait for the next one`() async throws
  {
    let server = try await NATSServer()
    var options = NATSOptions()
    options.reconnectWait = .seconds(36_000)
    let nats = NATSConnection(server.url, options: options)
    let diagnostics = Recorder(nats.diagnostics)
    let recorder = Recorder(nats.broadcaster(of: Int.self, on: "numbers"))
    await nats.isEventually(.connected)
    await server.stop()
    await nats.isEventually(.reconnecting)
    try nats.publish(1, on: "numbers")

    await nats.close()

    #expect(nats.status.current() == .closed(nil))
    #expect(diagnostics.updates.last == .notSent(subject: "numbers", .closed))
    await until { recorder.hasEnded }
  }

  /// A flush of libnats beyond its timeout takes a minute.
  @Test func `N5 closing times out while the server is suspended`() async throws {
    let server = try await NATSServer()
    var options = NATSOptions()
    options.drainTimeout = .milliseconds(300)
    for _ in 0..<10 {
      let nats = NATSConnection(server.url, options: options)
      let recorder = Recorder(nats.broadcaster(of: Int.self, on: "numbers"))
      try await nats.areSubscribed()
      server.send(SIGSTOP)

      await nats.close()

      #expect(nats.status.current() == .closed(nil))
      await until { recorder.hasEnded }
      server.send(SIGCONT)
    }
  }

  /// In a separate process, because other tests create threads and descriptors in this one.
  @Test(arguments: ["subscriptions", "connections"])
  func `N5 closed subscriptions and connections leak no thread, descriptor, or memory`(
    _ what: String
  )
    async throws
  {
    let server = try await NATSServer()
    let guest = try Guest(what, server.url)

    #expect(await guest.status() == 0)
  }
}

private final class Witness: Sendable {}
#endif
