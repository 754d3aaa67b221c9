import Testing

@testable import MiniRexPageServer

/// A request that no browser sends, and its status.
struct HostileRequest: Sendable, CustomTestStringConvertible {
  let text: String
  let status: Status

  var testDescription: String { "\(text.prefix(60).debugDescription)" }

  init(_ text: String, _ status: Status = .badRequest) {
    self.text = text
    self.status = status
  }

  static let all: [HostileRequest] =
    [
      "\r\n\r\n", "nonsense\r\n\r\n", "GET\r\n\r\n", "GET /\r\n\r\n", "GET  / HTTP/1.0\r\n\r\n",
      "GET / HTTP/2\r\n\r\n", "GET / HTTP/1.1 \r\n\r\n", "GET nothing HTTP/1.0\r\n\r\n",
      "GET http://elsewhere/ HTTP/1.0\r\n\r\n", "GET /%zz HTTP/1.0\r\n\r\n",
      "GET /%ff HTTP/1.0\r\n\r\n", "GET /\u{0} HTTP/1.0\r\n\r\n", "GET /\t HTTP/1.0\r\n\r\n",
      "GET / HTTP/1.1\nHost: localhost\r\n\r\n", "GET / HTTP/1.0\r\na: b\rc\r\n\r\n",
      "GET / HTTP/1.0\r\nno colon\r\n\r\n", "GET / HTTP/1.0\r\n: no name\r\n\r\n",
      "GET / HTTP/1.0\r\na : b\r\n\r\n", "GET / HTTP/1.0\r\na: b\r\n folded\r\n\r\n",
      "GET / HTTP/1.0\r\na: \u{7F}\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
      "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}", "{\"json\": true}",
    ].map { HostileRequest($0) }
    + ["-1", "+1", "1e3", "0x10", "1, 1", "", "٣"].map {
      HostileRequest("POST / HTTP/1.0\r\nContent-Length: \($0)\r\n\r\n")
    }
    + ["65537", "9999999999999999999999"].map {
      HostileRequest("POST / HTTP/1.0\r\nContent-Length: \($0)\r\n\r\n", .bodyTooLarge)
    }
    + ["Content-Length: 1", "Content-Length: 2"].map {
      HostileRequest("POST / HTTP/1.0\r\nContent-Length: 1\r\n\($0)\r\n\r\na")
    }
    + [
      HostileRequest(
        "POST / HTTP/1.0\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        .notImplemented),
      HostileRequest("GET / HTTP/1.1\r\nHost: localhost\r\nHost: elsewhere\r\n\r\n"),
      HostileRequest(
        "GET / HTTP/1.0\r\na: \(String(repeating: "x", count: 9_000))\r\n\r\n", .headTooLarge),
      HostileRequest("GET /\(String(repeating: "x", count: 9_000))", .headTooLarge),
    ]
    // RFC 9112, section 3.2.
    + [
      "", "Host: localhost:x\r\n", "Host: elsewhere@localhost\r\n", "Host: a b\r\n", "Host: a/\r\n",
      "Host: a%2\r\n", "Host: é\r\n", "Host: [::1\r\n", "Host: [::1]b\r\n", "Host: [g]\r\n",
      "Host: a:1:1\r\n", "Host: localhost\r\nhost: localhost\r\n",
      "Origin: http://elsewhere\r\n",
    ].map { HostileRequest("GET / HTTP/1.1\r\n\($0)\r\n") }
    // Pages of other servers, and other names for this server.
    + [
      "elsewhere", "localhost.elsewhere", "127.0.0.1.elsewhere", "a%2F", "[::1]", "[::1]:80", "",
      "localhost:", "a_(b),!",
    ].map {
      HostileRequest("GET / HTTP/1.1\r\nHost: \($0)\r\n\r\n", .forbidden)
    }
    + ["http://elsewhere", "https://localhost", "http://localhost:1", "null", ""].map {
      HostileRequest(
        "POST / HTTP/1.1\r\nHost: localhost\r\nOrigin: \($0)\r\nContent-Length: 0\r\n\r\n",
        .forbidden)
    }
    + ["cross-site", "same-site", "Cross-Site", ""].map {
      HostileRequest(
        "GET / HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Site: \($0)\r\n\r\n", .forbidden)
    }
    + [
      HostileRequest("GET / HTTP/1.0\r\nSec-Fetch-Site: cross-site\r\n\r\n", .forbidden),
      HostileRequest(
        "GET / HTTP/1.0\r\nSec-Fetch-Site: none\r\nSec-Fetch-Site: cross-site\r\n\r\n"),
    ]
    + [HostileRequest("POST / HTTP/1.0\r\nOrigin: http://elsewhere\r\n\r\n", .forbidden)]
}
