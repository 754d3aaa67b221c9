/// Three servers that know each other, with JetStream.
struct Cluster {
  let servers: [NATSServer]

  init() async throws {
    let addresses = try (0..<6).map { _ in try Address() }
    let routes = addresses[3...].map { "nats-route://\($0.host):\($0.port)" }
      .joined(separator: ", ")
    var servers: [NATSServer] = []
    for (index, route) in addresses[3...].enumerated() {
      servers.append(
        try await .keeping(
          """
          server_name: "server-\(index)"
          cluster { name: test, listen: "\(route.host):\(route.port)", routes: [\(routes)] }
          """, at: addresses[index]))
    }
    self.servers = servers
  }

  var urls: [String] { servers.map(\.url) }
}
