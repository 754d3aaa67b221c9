#if NATS
import Foundation
import MiniRex
import MiniRexNATS
import MiniRexTesting
import TestSupport
import Testing

@Suite(.heavy)
struct ServerURLTests {
  private func closing(_ nats: NATSConnection) async -> NATSError? {
    await nats.status.firstResult { status in
      if case .closed(let error?) = status { error } else { nil }
    }
  }

  private func options(attempts: Int? = 2) -> NATSOptions {
    var options = NATSOptions()
    options.reconnectAttempts = attempts
    options.reconnectWait = .milliseconds(10)
    options.reconnectJitter = .zero
    return options
  }

  private static let plain =
    #"{"server_id":"x","version":"2.9.10","proto":1,"max_payload":1048576,"headers":true}"#

  @Test func `N9 a server without TLS receives nothing for a tls URL`() async throws {
    let server = try FakeServer(Self.plain)
    let (host, port) = (server.address.host, server.address.port)
    var options = options()
    options.name = "client-name"

    for url in ["tls://alice:hunter2@\(host):\(port)", "TLS://sesame@\(host):\(port)"] {
      let nats = NATSConnection(url, options: options)
      let error = await closing(nats)
      guard case .tls? = error else {
        Issue.record("\(error as Any)")
        continue
      }
    }
    options.credentials = .user("alice", password: "hunter2")
    let error = await closing(NATSConnection("tls://\(host):\(port)", options: options))

    #expect(error.map { if case .tls = $0 { true } else { false } } == true)
    #expect(server.connectionCount >= 3)
    #expect(server.received == "")
  }

  @Test func `N9 a server with TLS accepts the credentials of a tls URL`() async throws {
    let address = try Address()
    let certificates = try await Certificates(for: address.host)
    let server = try await NATSServer(
      certificates.configuration() + "\nauthorization { user: alice, password: hunter2 }",
      at: address)
    var options = NATSOptions()
    options.tls = NATSTLS(trustedCertificates: certificates.path("ca.pem"))
    let nats = NATSConnection(
      "tls://alice:hunter2@\(address.host):\(address.port)", options: options)

    #expect(await nats.isEventually(.connected))
    await nats.close()
    withExtendedLifetime(server) {}
  }

  @Test func `N9 a certificate for another host is refused without an expected name`() async throws
  {
    let certificates = try await Certificates(for: "127.1.1.1")
    let server = try await NATSServer(certificates.configuration())
    var options = options()
    options.tls = NATSTLS(trustedCertificates: certificates.path("ca.pem"))

    let error = await closing(NATSConnection(server.url, options: options))

    guard case .tls? = error else {
      Issue.record("\(error as Any)")
      return
    }
  }

  @Test(arguments: [
    "ws://127.0.0.1:4222", "wss://a:hunter2@127.0.0.1", "http://127.0.0.1:4222", "://127.0.0.1",
    "hunter2://127.0.0.1", "", " ", "nats://127.0.0.1:0", "nats://127.0.0.1:65536",
    "nats://127.0.0.1:-1", "nats://a:hunter2%@127.0.0.1", "nats://a:hunter2%zz@127.0.0.1",
    "nats://a:%ff@127.0.0.1", "nats://a:hunter2/@127.0.0.1", "nats://127.0.0.1:4222/x",
    "nats://127.0.0.1:4222?x", "nats://127.0.0.1 :4222", "nats://[::1", "nats://127.0.0.1\n:4222",
    "nats://127.0.0.1:4222,", "nats://127.0.0.1:4222,ws://127.0.0.1",
  ])
  func `N9 an unsupported URL closes the connection and shows no secret`(_ url: String)
    async throws
  {
    // Without a limit of attempts: such a URL is not tried again.
    let error = await closing(NATSConnection(url, options: options(attempts: nil)))

    guard case .invalidOptions(let text)? = error else {
      Issue.record("\(error as Any)")
      return
    }
    #expect(!text.contains("hunter2") || url.hasPrefix("hunter2"))
  }

  @Test func `N9 the user and the password of a URL are percent-decoded`() async throws {
    let server = try await NATSServer(
      #"authorization { user: "al:i@ce", password: "p/a%s,s\"w\\o rd€" }"#)
    let host = "\(server.address.host):\(server.address.port)"
    let nats = NATSConnection(
      "nats://al%3Ai%40ce:p%2fa%25s%2Cs%22w%5Co%20rd%E2%82%AC@\(host)", options: options())

    #expect(await nats.isEventually(.connected))
    await nats.close()
  }

  @Test func `N4 a comma separates the URLs of several servers`() async throws {
    let server = try await NATSServer()
    let nobody = try Address()
    let host = "\(server.address.host):\(server.address.port)"
    for url in ["\(nobody.url), \(server.url)", "\(host),\(nobody.url)"] {
      let nats = NATSConnection(url, options: options())
      #expect(await nats.isEventually(.connected))
      await nats.close()
    }
  }

  @Test func `N4 one URL of a cluster survives the loss of its servers in turn`() async throws {
    let cluster = try await Cluster(advertises: true)
    let nats = NATSConnection(cluster.urls[0], options: options(attempts: nil))
    let numbers = Recorder(nats.broadcaster(of: Int.self, on: "numbers"))
    /// Returns when a message has made a round trip.
    func works() async throws {
      let before = numbers.updates.count
      while numbers.updates.count == before, !Task.isCancelled {
        try nats.publish(1, on: "numbers")
        try await Task.sleep(for: .milliseconds(20))
      }
    }
    try await works()
    // The servers announce each other once they are connected.
    await until {
      cluster.servers[0].log.components(separatedBy: "Route connection created").count > 2
    }
    try await works()

    await cluster.servers[0].stop()
    try await works()
    await cluster.servers[1].stop()
    try await works()
    try await cluster.servers[1].start()
    await cluster.servers[2].stop()
    try await works()

    await nats.close()
  }
}
#endif
