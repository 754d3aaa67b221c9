/// The head of a response.
struct Head: Sendable {
  /// The content security policy of every response that is not a page.
  private static let nothing = "default-src 'none'; frame-ancestors 'none'"

  private let status: String
  private let type: String
  private let length: Int?
  private let policy: String

  /// - Parameters:
  ///   - length: The number of bytes in the body, or `nil` if closing the connection ends the body.
  ///   - nonce: The nonce of the inline scripts and styles. Without a nonce, the browser runs no
  ///     script.
  init(_ status: String, _ type: String, length: Int? = nil, nonce: String? = nil) {
    self.status = status
    self.type = type
    self.length = length
    policy =
      nonce.map {
        """
        default-src 'none'; script-src 'nonce-\($0)'; style-src 'nonce-\($0)'; img-src data:; \
        connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'
        """
      } ?? Self.nothing
  }

  /// The bytes of the head.
  ///
  /// The headers forbid other pages to frame, open, embed, or read the response, and hide the
  /// page's address from other servers.
  var bytes: [UInt8] {
    let length = length.map { "Content-Length: \($0)\r\n" } ?? ""
    return Array(
      """
      HTTP/1.1 \(status)\r\nContent-Type: \(type)\r\n\(length)Cache-Control: no-store\r
      Content-Security-Policy: \(policy)\r\nX-Frame-Options: DENY\r
      X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r
      Cross-Origin-Opener-Policy: same-origin\r\nCross-Origin-Embedder-Policy: require-corp\r
      Cross-Origin-Resource-Policy: same-origin\r
      Permissions-Policy: camera=(), geolocation=(), microphone=()\r\nConnection: close\r\n\r\n
      """.utf8)
  }
}

/// Returns 128 random bits as 32 hexadecimal digits.
public func makeSecret() -> String {
  (0..<2).map { _ in
    let digits = String(UInt64.random(in: 0 ... .max), radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }.joined()
}
