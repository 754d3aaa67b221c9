import Foundation
import TestSupport
import Testing

@testable import MiniRexPageServer

@Suite(.light) struct RequestParserTests {
  let limits = Limits()

  func parse(_ text: String, by size: Int = .max) -> Result<Request, Status>? {
    var parser = RequestParser(limits)
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      if let result = parser.take(Array(rest.prefix(size))) { return result }
      rest = rest.dropFirst(size)
    }
    return nil
  }

  @Test(arguments: [1, 2, 3, 7, 1_000])
  func `a request is the same in pieces of any size`(size: Int) throws {
    let text = """
      POST /cards/a%20b?from=1&to=2 HTTP/1.1\r\nHost: localhost:8080\r
      Origin: http://LOCALHOST:8080\r\nX-Note:  a: b \r\nContent-Length: 5\r\n\r\nhello, and more
      """
    let request = try #require(try parse(text, by: size)?.get())

    #expect(request.method == "POST" && request.path == "/cards/a b")
    #expect(request.query == "from=1&to=2" && request.headers["x-note"] == "a: b")
    #expect(String(decoding: request.body, as: UTF8.self) == "hello")
  }

  @Test func `heads and bodies up to their limits are accepted`() {
    let line = "GET / HTTP/1.0\r\n"
    func head(_ size: Int) -> String {
      let rest = size - line.utf8.count - "a: \r\n\r\n".utf8.count
      return line + "a: " + String(repeating: "x", count: rest) + "\r\n\r\n"
    }
    func body(_ size: Int) -> String {
      "PUT / HTTP/1.0\r\nContent-Length: \(size)\r\n\r\n" + String(repeating: "x", count: size)
    }
    for size in [1, .max] {
      #expect((try? parse(head(limits.head), by: size)?.get()) != nil)
      #expect(parse(head(limits.head + 1), by: size) == .failure(.headTooLarge))
    }
    #expect((try? parse(body(limits.body))?.get())?.body.count == limits.body)
    #expect(parse(body(limits.body + 1)) == .failure(.bodyTooLarge))
    #expect(parse(String(repeating: "X", count: limits.head + 1)) == .failure(.headTooLarge))
  }

  @Test(arguments: HostileRequest.all)
  func `a hostile request is refused`(request: HostileRequest) {
    #expect(parse(request.text) == .failure(request.status))
    #expect(parse(request.text, by: 1) == .failure(request.status))
  }

  @Test func `an unusual but valid request is accepted`() throws {
    for text in [
      "GET / HTTP/1.0\r\n\r\n", "GET /?? HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
      "DELETE /%C3%A9 HTTP/1.1\r\nx:\r\nhost: localhost\r\n\r\n",
      "GET / HTTP/1.0\r\nA: 1\r\na: é\r\nContent-Length: 0\r\n\r\n",
    ] {
      #expect((try? parse(text)?.get()) != nil, "\(text)")
    }
  }

  /// The first three took a regular expression 0.9, 7.7, and 3.3 seconds.
  @Test(arguments: [
    spaces(400) + "\u{2028}", spaces(800) + "\u{2028}", "a" + spaces(7_900) + "b", spaces(8_000),
    spaces(2_600) + "\u{2028}" + spaces(2_600) + "\u{85}" + spaces(2_600),
  ])
  func `blanks around a header value are removed, and inner blanks are kept`(text: String) throws {
    let request = try #require(try parse("GET / HTTP/1.0\r\nX:\(text)\r\n\r\n")?.get())
    let trimmed = text.trimmingCharacters(in: CharacterSet(charactersIn: " "))
    #expect(request.headers["x"] == trimmed)
  }

  @Test(arguments: [
    ("localhost", true), ("LOCALHOST:8080", true), ("127.0.0.1", true), ("127.0.0.2:1", true),
    ("127.1.2.3:65535", true), ("192.0.2.7", false), ("127.0.0", false), ("127.0.0.1.", false),
    ("127.0.0.1.1", false), ("127.0.0.1:", false), ("127.0.0.1:x", false), ("localhost:1:1", false),
    ("localhost.", false), ("127.0.0.1234", false), ("127.٠.0.1", false), ("", false),
    (":1", false),
  ])
  func `a loopback server accepts only loopback hosts`(host: String, isKnown: Bool) {
    #expect(Hosts.thisMachine.contains(host) == isKnown)
    #expect(Hosts.numbers.contains(host) == (isKnown || host == "192.0.2.7"))
  }

  @Test(arguments: [
    "", "?token", "?token=", "?token=open", "?token=open%20sesamf", "?open%20sesame",
  ])
  func `the token is compared before the second line arrives`(query: String) {
    var parser = RequestParser(limits, .thisMachine, token: "open sesame")
    #expect(parser.take(Array("GET /\(query) HTTP/1.1\r".utf8)) == nil)
    #expect(parser.take(Array("\n".utf8)) == .failure(.tokenRequired))
  }

  @Test func `the first token of a query counts`() throws {
    for (query, isKnown) in [
      ("a=b&token=%61", true), ("token=a&token=b", true), ("token=b&token=a", false),
    ] {
      var parser = RequestParser(limits, .thisMachine, token: "a")
      let result = parser.take(Array("GET /?\(query) HTTP/1.0\r\n\r\n".utf8))
      #expect((try? result?.get().query) == (isKnown ? query : nil))
    }
  }
}

private func spaces(_ count: Int) -> String { String(repeating: " ", count: count) }
