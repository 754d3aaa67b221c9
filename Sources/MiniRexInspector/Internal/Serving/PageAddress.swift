package import Foundation
internal import MiniRex

/// The address of a page.
package struct PageAddress: Sendable {
  private let address: String
  private let port: UInt16
  private let token: String?

  package init(address: String, port: UInt16, token: String?) {
    (self.address, self.port, self.token) = (address, port, token)
  }

  /// The URL of the page, with the token.
  package var url: URL {
    var parts = URLComponents()
    (parts.scheme, parts.host, parts.path) = ("http", address, "/")
    if address == "0.0.0.0" { parts.host = "127.0.0.1" }
    parts.port = Int(port)
    if let token {
      let value = token.addingPercentEncoding(withAllowedCharacters: .alphanumerics)
      parts.percentEncodedQuery = "token=\(value ?? "")"
    }
    guard let url = parts.url else { misuse("No URL has the parts '\(parts)'.") }
    return url
  }
}
