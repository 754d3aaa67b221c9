import Foundation
import Testing

@testable import MiniRexPageServer

@Suite(.timeLimit(.minutes(20))) struct RequestParserTests {
  let limits = Limits()

  func parse(_ text: String, by size: Int = .max) -> Result<Request, Status>? {
    var parser = RequestParser(limits)
    var rest = Data(text.utf8)[...]
    while !rest.isEmpty {
      if let result = parser.take(Data(rest.prefix(size))) { return result }
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

  @Test func `what is allowed, and not a byte more`() {
    let line = "GET / HTTP/1.1\r\n"
    func head(_ size: Int) -> String {
      let rest = size - line.utf8.count - 3
      return line + "a: " + String(repeating: "x", count: rest) + "\r\n\r\n"
    }
    func body(_ size: Int) -> String {
      "PUT / HTTP/1.1\r\nContent-Length: \(size)\r\n\r\n" + String(repeating: "x", count: size)
    }
    #expect((try? parse(head(limits.head))?.get()) != nil)
    #expect(parse(head(limits.head + 1)) == .failure(.headTooLarge))
    #expect((try? parse(body(limits.body))?.get())?.body.count == limits.body)
    #expect(parse(body(limits.body + 1)) == .failure(.bodyTooLarge))
    #expect(parse(String(repeating: "X", count: limits.head + 1)) == .failure(.headTooLarge))
  }

  @Test(arguments: HostileRequest.all)
  func `a hostile request is refused`(request: HostileRequest) {
    #expect(parse(request.text) == .failure(request.status))
    #expect(parse(request.text, by: 1) == .failure(request.status))
  }

  @Test func `requests that only look strange are not refused`() throws {
    for text in [
      "GET / HTTP/1.0\r\n\r\n", "GET /?? HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
      "DELETE /%C3%A9 HTTP/1.1\r\nx:\r\nhost: localhost\r\n\r\n",
      "GET / HTTP/1.1\r\nA: 1\r\na: é\r\nContent-Length: 0\r\n\r\n",
    ] {
      #expect((try? parse(text)?.get()) != nil, "\(text)")
    }
  }
}
