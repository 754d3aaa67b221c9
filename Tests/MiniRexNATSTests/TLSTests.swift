#if NATS
import Foundation
import MiniRex
import MiniRexNATS
import MiniRexTesting
import TestSupport
import Testing

@Suite(.heavy)
struct TLSTests {
  private func options(trusting authority: String? = nil, attempts: Int? = nil) -> NATSOptions {
    var options = NATSOptions()
    options.tls = NATSTLS(trustedCertificates: authority)
    options.reconnectAttempts = attempts
    return options
  }

  private func closing(_ nats: NATSConnection) async -> NATSError? {
    await nats.status.firstResult { status in
      if case .closed(let error?) = status { error } else { nil }
    }
  }

  @Test func `N9 a certificate of a trusted authority connects`() async throws {
    let address = try Address()
    let certificates = try await Certificates(for: address.host)
    let server = try await NATSServer(certificates.configuration(), at: address)
    var options = options(trusting: certificates.path("ca.pem"))
    let byAddress = NATSConnection(server.url, options: options)
    options.tls?.expectedHostname = "nats.test"
    let byName = NATSConnection(server.url, options: options)
    let recorder = Recorder(byAddress.broadcaster(of: Data.self, on: "data"))
    try await byAddress.areSubscribed()
    let payload = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0) })

    for _ in 0..<20 { try byName.publish(payload, on: "data") }

    #expect(await recorder.next(20).map(\.payload) == Array(repeating: payload, count: 20))
    let service = byName.reply(on: "double") { (number: Int) in
      PublishedTask<Int, Never>.success(2 * number)
    }
    try await byName.areSubscribed()
    for number in 0..<20 {
      let request = byAddress.request(Int.self, number, on: "double", timeout: .seconds(60))
      #expect(await request.result == .success(2 * number))
    }
    withExtendedLifetime(service) {}
    await byAddress.close()
    await byName.close()
  }

  @Test func `N9 TLS reconnects after a restart of the server`() async throws {
    let address = try Address()
    let certificates = try await Certificates(for: address.host)
    let server = try await NATSServer(certificates.configuration(), at: address)
    let nats = NATSConnection(
      server.url, options: options(trusting: certificates.path("ca.pem")))
    let recorder = Recorder(nats.broadcaster(of: Int.self, on: "numbers"))
    #expect(await nats.isEventually(.connected))
    await server.stop()
    #expect(await nats.isEventually(.reconnecting))
    for number in 0..<100 { try nats.publish(number, on: "numbers") }

    try await server.start()

    #expect(await recorder.next(100).map(\.payload) == Array(0..<100))
    await nats.close()
  }

  @Test func `N9 a wrong, expired, or foreign certificate closes the connection`()
    async throws
  {
    let address = try Address()
    let certificates = try await Certificates(for: address.host)
    let server = try await NATSServer(certificates.configuration(), at: address)
    let late = try await NATSServer(certificates.configuration("expired"))
    let authority = certificates.path("ca.pem")
    var other = options(trusting: authority, attempts: 2)
    other.tls?.expectedHostname = "other.test"

    for (url, options) in [
      (server.url, options(trusting: certificates.path("stranger.pem"), attempts: 2)),
      (server.url, options(attempts: 2)),
      (late.url, options(trusting: authority, attempts: 2)),
      (server.url, other),
    ] {
      let nats = NATSConnection(url, options: options)
      let error = await closing(nats)
      guard case .tls? = error else {
        Issue.record("\(error as Any)")
        continue
      }
    }
  }

  @Test func `N9 a server that requires a certificate accepts a client with one`() async throws {
    let address = try Address()
    let certificates = try await Certificates(for: address.host)
    let server = try await NATSServer(
      certificates.configuration(verifies: true), at: address)
    var with = options(trusting: certificates.path("ca.pem"))
    with.tls?.certificate = certificates.path("client.pem")
    with.tls?.key = certificates.path("client.key")
    let right = NATSConnection(server.url, options: with)
    let without = NATSConnection(
      server.url, options: options(trusting: certificates.path("ca.pem"), attempts: 2))

    #expect(await right.isEventually(.connected))
    let error = await closing(without)
    guard case .tls? = error else {
      Issue.record("\(error as Any)")
      return
    }
    await right.close()
  }

  @Test func `N9 an invalid certificate file closes the connection and is named`()
    async throws
  {
    let folder = try Folder()
    let path = try folder.write("nothing", to: "ca.pem")
    let nats = NATSConnection(try Address().url, options: options(trusting: path))

    let error = await closing(nats)

    #expect(error == .invalidOptions("The trusted certificates at \(path) cannot be loaded."))
  }
}
#endif
