#if NATS
import Foundation
import MiniRex
import MiniRexNATS

/// A cluster of three servers with JetStream.
struct Cluster {
  let servers: [NATSServer]
  /// Three proxies for the clients of the servers, and three for the routes between them.
  private let proxies: [Proxy]

  /// - Parameter advertises: A Boolean value that indicates whether the servers announce their
  ///   addresses behind the proxies to clients.
  init(advertises: Bool = false) async throws {
    let addresses = try (0..<6).map { _ in try Address() }
    proxies = try addresses.map { try Proxy(to: $0) }
    let routes = proxies[3...].map(\.address)
    let urls = routes.map { "nats-route://\($0.host):\($0.port)" }.joined(separator: ", ")
    var servers: [NATSServer] = []
    for (index, route) in addresses[3...].enumerated() {
      // Without it, servers and clients learn the addresses behind the proxies.
      servers.append(
        try await .keeping(
          """
          server_name: "server-\(index)"
          lame_duck_duration: "30s", lame_duck_grace_period: "1s"
          cluster {
            name: test, listen: "\(route.host):\(route.port)", routes: [\(urls)]
            advertise: "\(routes[index].host):\(routes[index].port)", no_advertise: \(!advertises)
          }
          """, at: addresses[index]))
    }
    self.servers = servers
  }

  var urls: [String] { proxies[..<3].map(\.url) }

  /// Drops what servers send to their present clients.
  func loseAnswers() { for proxy in proxies[..<3] { proxy.loseAnswers() } }

  /// Holds all traffic between clients and servers, and between servers.
  func holdNetwork() { for proxy in proxies { proxy.hold() } }

  func passNetwork() { for proxy in proxies { proxy.pass() } }
}

extension NATSConnection {
  /// Returns the number of the server that leads a stream, or `nil` before the election.
  func leader(of stream: NATSStream) async -> Int? {
    while !Task.isCancelled {
      let info = await request(
        String.self, "", on: "$JS.API.STREAM.INFO.\(stream.name)", timeout: .seconds(2)
      ).result
      if case .success(let text)? = info,
        let leader = text.values(of: "leader").first, leader.hasPrefix("server-")
      {
        return Int(leader.dropFirst("server-".count))
      }
      try? await Task.sleep(for: .milliseconds(50))
    }
    return nil
  }
}
#endif
