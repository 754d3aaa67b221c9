public import Foundation

/// A browser's request.
public struct Request: Sendable, Equatable {
  /// The method in uppercase, as received.
  public let method: String
  /// The percent-decoded path, without the query.
  public let path: String
  /// The text after the question mark, without decoding.
  public let query: String?
  /// The header values by lowercase name.
  public private(set) var headers: [String: String] = [:]
  /// The bytes after the head.
  public internal(set) var body = Data()

  private let needsHost: Bool

  private static let uniqueHeaders: Set = ["content-length", "host", "origin", "sec-fetch-site"]

  /// Parses the request line.
  init(line: ArraySlice<UInt8>) throws(Status) {
    let words = line.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
    guard words.count == 3, !words[0].isEmpty, words[0].allSatisfy(\.isUppercase),
      words[1].first == UInt8(ascii: "/"), !words[1].contains(UInt8(ascii: "\t")),
      words[2].elementsEqual("HTTP/1.1".utf8) || words[2].elementsEqual("HTTP/1.0".utf8)
    else { throw .badRequest }
    let (path, query) = words[1].divided(at: UInt8(ascii: "?"))
    // The path must be UTF-8 both before and after decoding.
    guard let decoded = Array(try text(path).utf8)[...].withoutPercents else { throw .badRequest }
    needsHost = words[2].last == UInt8(ascii: "1")
    method = try text(words[0])
    self.path = try text(decoded[...])
    self.query = try query.map { query throws(Status) in try text(query) }
  }

  /// Parses a header line.
  mutating func add(line: ArraySlice<UInt8>) throws(Status) {
    guard case (let name, let value?) = line.divided(at: UInt8(ascii: ":")), !name.isEmpty,
      name.allSatisfy(\.isOfToken)
    else { throw .badRequest }
    let key = String(decoding: name.lazy.map(\.lowercased), as: UTF8.self)
    // Servers disagree about which value of a repeated header applies, so these must be unique.
    if headers[key] != nil && Self.uniqueHeaders.contains(key) {
      throw .badRequest
    }
    headers[key] = try text(value.withoutBlanks)
  }

  /// Rejects requests without a valid host.
  ///
  /// Clients of HTTP/1.0 may omit it.
  func requireHost() throws(Status) {
    if let host = headers["host"] {
      if !Array(host.utf8)[...].isHost { throw .badRequest }
    } else if needsHost {
      throw .badRequest
    }
  }

  /// Rejects requests from pages of other servers, and requests under other host names.
  func refuseStrangers(_ hosts: Hosts) throws(Status) {
    // A browser omits the origin where a page of another server embeds or opens this one.
    if let site = headers["sec-fetch-site"], !["same-origin", "none"].contains(site.lowercased()) {
      throw .forbidden
    }
    guard let host = headers["host"] else {
      if headers["origin"] != nil { throw .forbidden }
      return
    }
    if !hosts.contains(host) { throw .forbidden }
    if let origin = headers["origin"], origin.lowercased() != "http://\(host.lowercased())" {
      throw .forbidden
    }
  }

  /// Returns the number of bytes in the body.
  func bodyLength(_ limits: Limits) throws(Status) -> Int {
    if headers["transfer-encoding"] != nil { throw .notImplemented }
    guard let text = headers["content-length"] else { return 0 }
    guard !text.isEmpty, text.utf8.allSatisfy(\.isDigit) else { throw .badRequest }
    guard let length = Int(text), length <= limits.body else { throw .bodyTooLarge }
    return length
  }
}

private func text(_ bytes: ArraySlice<UInt8>) throws(Status) -> String {
  guard let text = String(validating: bytes, as: UTF8.self) else { throw .badRequest }
  return text
}
