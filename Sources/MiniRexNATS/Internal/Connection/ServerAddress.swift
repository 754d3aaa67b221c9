#if NATS
/// A server, parsed from a URL.
///
/// It may contain a password, so its description shows the host and the port only.
struct ServerAddress: Sendable, CustomStringConvertible, CustomReflectable {
  let host: String
  let port: UInt16
  /// A Boolean value that indicates whether a server without TLS is refused.
  let requiresTLS: Bool
  let user: String?
  let password: String?
  /// The name in the certificate of a discovered server whose host is an IP address.
  var certificateName: String?

  var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

  var customMirror: Mirror { Mirror(self, children: ["host": host, "port": port]) }

  /// Parses the URLs of several servers, which commas may separate.
  ///
  /// An error contains no part of a URL except the scheme.
  static func list(_ urls: [String]) throws(NATSError) -> [ServerAddress] {
    var servers: [ServerAddress] = []
    for url in urls.flatMap({ $0.split(separator: ",", omittingEmptySubsequences: false) }) {
      servers.append(try ServerAddress(url))
    }
    return servers
  }
}

extension ServerAddress {
  private static let noURL = NATSError.invalidOptions(
    "A URL is not a server URL. Percent-encode the user and the password.")

  init(_ url: some StringProtocol) throws(NATSError) {
    var rest = Substring(url)
    while rest.first?.isWhitespace == true { rest.removeFirst() }
    while rest.last?.isWhitespace == true { rest.removeLast() }
    if rest.isEmpty { throw Self.noURL }
    requiresTLS = try Self.takeScheme(&rest)
    if let end = rest.firstIndex(where: { "/?#".contains($0) }) {
      if rest[end...] != "/" { throw Self.noURL }
      rest = rest[..<end]
    }
    (user, password) = try Self.takeUser(&rest)
    port = try Self.takePort(&rest)
    host = try Self.host(rest)
  }

  private static func takeScheme(_ rest: inout Substring) throws(NATSError) -> Bool {
    let end = rest.utf8.indices.first { rest.utf8[$0...].starts(with: "://".utf8) }
    guard let end else { return false }
    let scheme = rest[..<end].lowercased()
    rest = rest[rest.utf8.index(end, offsetBy: 3)...]
    switch scheme {
    case "nats": return false
    case "tls": return true
    default:
      // Any text except a scheme may be secret.
      let isScheme = scheme.utf8.allSatisfy { 0x61...0x7A ~= $0 } && scheme.utf8.count < 12
      throw isScheme
        ? .invalidOptions("The scheme '\(scheme)' is not supported. Use 'nats' or 'tls'.") : noURL
    }
  }

  private static func takeUser(
    _ rest: inout Substring
  ) throws(NATSError) -> (String?, String?) {
    guard let end = rest.lastIndex(of: "@") else { return (nil, nil) }
    let info = rest[..<end]
    rest = rest[rest.index(after: end)...]
    guard let colon = info.firstIndex(of: ":") else { return (try decoded(info), nil) }
    return (try decoded(info[..<colon]), try decoded(info[info.index(after: colon)...]))
  }

  private static func takePort(_ rest: inout Substring) throws(NATSError) -> UInt16 {
    let afterAddress = rest.lastIndex(of: "]") ?? rest.startIndex
    guard let colon = rest[afterAddress...].lastIndex(of: ":") else { return 4222 }
    let digits = rest[rest.index(after: colon)...]
    rest = rest[..<colon]
    if digits.isEmpty { return 4222 }
    guard digits.utf8.allSatisfy({ 0x30...0x39 ~= $0 }), let port = UInt16(digits), port > 0 else {
      throw noURL
    }
    return port
  }

  private static func host(_ text: Substring) throws(NATSError) -> String {
    if text.isEmpty { return "localhost" }
    if text.first == "[", text.last == "]" {
      let address = text.dropFirst().dropLast()
      let isAddress =
        address.contains(":")
        && address.utf8.allSatisfy { isHostByte($0) || $0 == 0x3A || $0 == 0x25 }
      if !isAddress { throw noURL }
      return String(address)
    }
    if !text.utf8.allSatisfy(isHostByte) { throw noURL }
    return String(text)
  }

  private static func isHostByte(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x80...: true
    default: false
    }
  }

  /// Decodes each percent-encoded byte.
  private static func decoded(_ text: Substring) throws(NATSError) -> String {
    var bytes: [UInt8] = []
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
      if byte != UInt8(ascii: "%") {
        bytes.append(byte)
        continue
      }
      let digits = rest.prefix(2).compactMap { Character(UnicodeScalar($0)).hexDigitValue }
      guard digits.count == 2 else { throw noURL }
      rest = rest.dropFirst(2)
      bytes.append(UInt8(digits[0] * 16 + digits[1]))
    }
    guard let decoded = String(validating: bytes, as: UTF8.self) else { throw noURL }
    return decoded
  }
}
#endif
