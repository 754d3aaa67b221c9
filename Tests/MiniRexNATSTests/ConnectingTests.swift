#if NATS
import Foundation
import MiniRex
import MiniRexNATS
import MiniRexTesting
import TestSupport
import Testing

@Suite(.heavy, .serialized)
struct ConnectingTests {
  @Test func `N2 tasks run while 32 connections wait for a silent server`() async throws {
    let server = try FakeServer("")
    var options = NATSOptions()
    options.connectTimeout = .seconds(600)
    let connections = (0..<32).map { _ in NATSConnection(server.address.url, options: options) }
    await onQueue {
      while server.connectionCount < 2 { usleep(1_000) }
    }
    let began = ContinuousClock.now

    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<1_000 { group.addTask { await Task.yield() } }
    }

    #expect(ContinuousClock.now - began < .seconds(300))
    withExtendedLifetime(connections) {}
  }

  /// Each attempt has a separate process, which exits at most 6 ms after it starts to connect.
  @Test func `N5 a process that exits while connecting does not crash`() async throws {
    let server = try await NATSServer()
    for number in 0..<scaled(200) {
      let guest = try Guest("exit", server.url, "\(number * 97 % 6_000)")
      #expect(await guest.status() == 0)
    }
  }

  @Test func `N9 a missing credentials file closes the connection`() async throws {
    let folder = try Folder()
    let path = folder.path("missing")
    let server = try await NATSServer()
    var options = NATSOptions()
    for credentials in [
      NATSCredentials.file(path), .file(try folder.write("x", to: "user"), seed: path),
      .nkey("UDXU4RCSJNZOIQHZNWXHXORDPRTGNJAHAHFRGZNEEJCPQTT2M7NLCNF4", seedFile: path),
    ] {
      options.credentials = credentials
      let nats = NATSConnection(server.url, options: options)
      let message = "The credentials file at \(path) cannot be read."
      #expect(await nats.isEventually(.closed(.invalidOptions(message))))
    }
  }

  @Test func `N9 a credentials file without credentials closes the connection`() async throws {
    let folder = try Folder()
    let server = try await NATSServer()
    var options = NATSOptions()
    options.credentials = .file(try folder.write("nothing", to: "user"))
    let nats = NATSConnection(server.url, options: options)

    let error = await nats.status.firstResult { status in
      if case .closed(let error?) = status { error } else { nil }
    }

    guard case .invalidOptions? = error else {
      Issue.record("\(error as Any)")
      return
    }
  }

  @Test func `N17 a slow status callback delays neither streams nor requests`() async throws {
    let server = try await NATSServer.keeping()
    let nats = NATSConnection(server.url)
    let stream = nats.stream("board")
    #expect(await stream.create().hasSucceeded())
    let events = Recorder(stream.broadcaster(of: Int.self, from: .beginning))
    #expect(await stream.append(1).hasSucceeded())
    _ = await events.next()
    let service = nats.reply(on: "never") { (_: Int) in
      PublishedTask<Int, Never> { () async -> Int in
        try? await Task.sleep(for: .seconds(600))
        return 0
      }
    }
    try await nats.areSubscribed()
    let request = nats.request(Int.self, 1, on: "never", timeout: .seconds(600))
    let failures = Recorder(request)
    try await nats.areSubscribed()
    let mayGo = DispatchSemaphore(value: 0)
    let status = Recorder(nats.status) { if $0 == .reconnecting { mayGo.waitAtMost() } }

    await server.stop()
    try await server.start()

    _ = await failures.next()
    await until(
      await stream.append(2).result.map { if case .success = $0 { true } else { false } } == true)
    let payloads = await events.next().map(\.payload)
    #expect(payloads == [2])
    #expect(!status.updates.contains(.connected) || status.updates.last == .reconnecting)
    mayGo.signal()
    withExtendedLifetime(service) {}
    await nats.close()
  }
}
#endif
