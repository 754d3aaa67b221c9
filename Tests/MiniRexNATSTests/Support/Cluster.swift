#if NATS
import Foundation
import MiniRex
import MiniRexNATS

/// A cluster of three servers with JetStream.
struct Cluster {
  let servers: [NATSServer]
  /// A proxy for the clients of each server.
  private let proxies: [Proxy]
  /// A proxy for each ordered pair of servers: the first connects to the second.
  private let pairs: [(from: Int, to: Int, proxy: Proxy)]

  /// - Parameter advertises: A Boolean value that indicates whether the servers announce their
  ///   addresses behind the proxies to clients.
  init(advertises: Bool = false) async throws {
    let addresses = try (0..<6).map { _ in try Address() }
    proxies = try addresses[..<3].map { try Proxy(to: $0) }
    pairs = try (0..<3).flatMap { from in
      try (0..<3).filter { $0 != from }.map { (from, $0, try Proxy(to: addresses[3 + $0])) }
    }
    var servers: [NATSServer] = []
    for (index, route) in addresses[3...].enumerated() {
      let urls = pairs.filter { $0.from == index }
        .map { "nats-route://\($0.proxy.address.host):\($0.proxy.address.port)" }
      // Without it, servers and clients learn the addresses behind the proxies. Nobody listens at the announced port,
      // so that each route has a proxy of its own.
      servers.append(
        try await .keeping(
          """
          server_name: "server-\(index)"
          lame_duck_duration: "30s", lame_duck_grace_period: "1s"
          cluster {
            name: test, listen: "\(route.host):\(route.port)"
            routes: [\(urls.joined(separator: ", "))]
            advertise: "\(route.host):1", no_advertise: \(!advertises)
          }
          """, at: addresses[index]))
    }
    self.servers = servers
  }

  var urls: [String] { proxies[..<3].map(\.url) }

  /// Drops what servers send to their present clients.
  func loseAnswers() { for proxy in proxies { proxy.loseAnswers() } }

  /// Ends the connections of the present clients.
  func cutClients() {
    for proxy in proxies {
      proxy.cut()
      proxy.mend()
    }
  }

  /// Holds all traffic between clients and servers, and between servers.
  func holdNetwork() { for proxy in proxies + routes { proxy.hold() } }

  func passNetwork() { for proxy in proxies + routes { proxy.pass() } }

  /// The proxies of all routes between servers.
  var routes: [Proxy] { pairs.map(\.proxy) }

  /// The proxies of the routes between a server and the others.
  func routes(of server: Int) -> [Proxy] {
    pairs.filter { $0.from == server || $0.to == server }.map(\.proxy)
  }

  func routes(between one: Int, _ other: Int) -> [Proxy] {
    pairs.filter { [$0.from, $0.to].sorted() == [one, other].sorted() }.map(\.proxy)
  }
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
