package import Foundation

/// What a browser asks for.
package struct Request: Sendable, Equatable {
  package let method: String
  /// Without what follows a `?`, and decoded.
  package let path: String
  package let query: String?
  /// By their names in lower case.
  package let headers: [String: String]
  package internal(set) var body = Data()

  /// Reads a head, the lines before the empty one, or says why it is none.
  init(head: Data, _ hosts: Hosts) throws(Status) {
    let isText = head.allSatisfy {
      $0 >= 0x20 && $0 != 0x7F || $0 == 0x0D || $0 == 0x0A || $0 == 0x09
    }
    guard isText, let text = String(data: head, encoding: .utf8) else { throw .badRequest }
    let lines = text.components(separatedBy: "\r\n")
    guard !lines.contains(where: { $0.unicodeScalars.contains { $0 == "\r" || $0 == "\n" } }),
      let words = lines[0].wholeMatch(of: /([A-Z]+) (\/[^ \t?]*)(?:\?([^ \t]*))? HTTP\/1\.[01]/),
      let path = String(words.2).removingPercentEncoding
    else { throw .badRequest }
    var headers: [String: String] = [:]
    for line in lines.dropFirst() {
      guard let parts = line.wholeMatch(of: /([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*?)[ \t]*/)
      else { throw .badRequest }
      let name = parts.1.lowercased()
      // Two of these could be understood in two ways.
      if headers[name] != nil && ["content-length", "host", "origin"].contains(name) {
        throw .badRequest
      }
      headers[name] = String(parts.2)
    }
    method = String(words.1)
    self.path = path
    query = words.3.map(String.init)
    self.headers = headers
    try refuseStrangers(hosts)
  }

  /// Whoever's page it is that asks, it has to be one of this server.
  private func refuseStrangers(_ hosts: Hosts) throws(Status) {
    guard let host = headers["host"] else {
      if headers["origin"] != nil { throw .forbidden }
      return
    }
    // Otherwise a name that leads here would let pages from elsewhere read everything.
    if !hosts.contains(host) { throw .forbidden }
    if let origin = headers["origin"], origin.lowercased() != "http://\(host.lowercased())" {
      throw .forbidden
    }
  }

  /// How many bytes the body has.
  func bodyLength(_ limits: Limits) throws(Status) -> Int {
    if headers["transfer-encoding"] != nil { throw .notImplemented }
    guard let text = headers["content-length"] else { return 0 }
    guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
      throw .badRequest
    }
    guard let length = Int(text), length <= limits.body else { throw .bodyTooLarge }
    return length
  }
}
