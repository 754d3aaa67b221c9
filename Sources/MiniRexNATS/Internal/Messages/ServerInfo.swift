#if NATS
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The first line of a server.
struct ServerInfo: Sendable {
  private struct Content: Decodable {
    let version: String?
    let tlsRequired: Bool?
    let connectUrls: [String]?
  }

  /// The line for libnats, without the servers of the cluster.
  ///
  /// libnats would connect to them in the same call, over other sockets.
  let line: [UInt8]
  let version: String?
  let requiresTLS: Bool
  let cluster: [String]

  /// Finds nothing in a line that is not `INFO` with JSON, which libnats refuses.
  init(_ line: [UInt8]) {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    let content = line.firstIndex(of: UInt8(ascii: "{")).flatMap { start in
      try? decoder.decode(Content.self, from: Data(line[start...]))
    }
    version = content?.version
    requiresTLS = content?.tlsRequired ?? false
    cluster = content?.connectUrls ?? []
    self.line = line.replacing("\"connect_urls\"".utf8, with: "\"_onnect_urls\"".utf8)
  }
}
#endif
