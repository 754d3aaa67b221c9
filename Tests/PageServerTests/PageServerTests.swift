import Foundation
import MiniRex
import TestSupport
import Testing

@testable import MiniRexPageServer

@Suite(.light) struct PageServerTests {
  /// Serves a page, a log of posted bodies, and events while the body runs.
  func withServer(
    _ limits: Limits = Limits(), _ events: BroadcastSource<Data> = BroadcastSource(),
    _ slow: Reply.SlowBrowser = .beginsAnew,
    _ body: (PageServer, _ posts: Shared<[String]>) async throws -> Void
  ) async throws {
    let server = try #require(PageServer(port: 0, limits: limits))
    let posts = Shared<[String]>([])
    let serving = Task {
      await server.serve { request in
        switch (request.method, request.path) {
        case ("GET", "/"): .content("text/html", Data("<p>page</p>".utf8))
        case ("GET", "/script"): .page(Data("<script nonce=\"NONCE\">1</script>".utf8))
        case ("GET", "/events"): .events(events.publisher, slow)
        case ("POST", "/"):
          {
            posts.value += [String(decoding: request.body, as: UTF8.self)]
            return .status(.noContent)
          }()
        case ("GET", _): .status(.notFound)
        default: .status(.notAllowed)
        }
      }
    }
    defer { serving.cancel() }
    try await body(server, posts)
    serving.cancel()
    await serving.finished()
    #expect(server.connectionCount == 0)
  }

  let get = "GET / HTTP/1.0\r\n\r\n"

  @Test func `a page is served, and a posted body arrives complete`() async throws {
    try await withServer { server, posts in
      let page = try await response(from: server.port, to: get)
      #expect(page.hasPrefix("HTTP/1.1 200 OK\r\n") && page.hasSuffix("\r\n\r\n<p>page</p>"))
      let text = String(repeating: "é", count: 30_000)
      let posted = try await response(
        from:
          server.port, to: "POST / HTTP/1.0\r\nContent-Length: \(text.utf8.count)\r\n\r\n\(text)")
      #expect(posted.hasPrefix("HTTP/1.1 204 "))
      #expect(posts.value == [text])
    }
  }

  @Test func `after stop, the server refuses connections and finishes the open ones`() async throws
  {
    var limits = Limits()
    // The rest of a request may be late on a busy machine.
    limits.requestTime = .seconds(600)
    let server = try #require(PageServer(port: 0, limits: limits))
    let stop = TaskSource<Void, Never>()
    let events = BroadcastSource<Data>()
    let serving = Task {
      await server.serve(until: stop.publisher) { request in
        request.path == "/events"
          ? .events(events.publisher, .beginsAnew) : .content("text/plain", request.body)
      }
    }
    let late = try HTTPClient(server.port)
    late.send("POST / HTTP/1.0\r\nContent-Length: 4\r\n\r\n")
    let stream = try HTTPClient(server.port)
    stream.send("GET /events HTTP/1.0\r\n\r\n")
    await until { events.subscriberCount == 1 && server.connectionCount == 2 }

    stop.finish(.success(()))
    await until { (try? HTTPClient(server.port)) == nil }
    #expect(server.connectionCount == 2)
    late.send("late")
    #expect(await late.response().hasSuffix("\r\n\r\nlate"))
    late.cancel()
    events.broadcast(Data("data: last\n\n".utf8))
    events.end()
    #expect(await stream.response().hasSuffix("data: last\n\n"))
    await serving.finished()

    #expect(server.connectionCount == 0)
  }

  @Test func `a hostile request is answered, and changes nothing`() async throws {
    try await withServer { server, posts in
      for request in HostileRequest.all {
        let answer = try await response(from: server.port, to: request.text)
        #expect(answer.hasPrefix("HTTP/1.1 \(request.status.line)\r\n"), "\(request.text)")
      }
      #expect(posts.value == [])
      #expect(try await response(from: server.port, to: get).hasSuffix("<p>page</p>"))
    }
  }

  @Test func `an incomplete request is answered, and a connection without a byte is closed`()
    async throws
  {
    try await withServer { server, _ in
      let half = try HTTPClient(server.port)
      half.send("GET / HT")
      half.finishSending()
      #expect(await half.response().hasPrefix("HTTP/1.1 400 "))
    }

    var limits = Limits()
    limits.requestTime = .seconds(1)
    try await withServer(limits) { server, _ in
      let silent = try await response(from: server.port, to: "")
      #expect(silent == "")
    }
  }

  @Test func `a slow browser keeps its place for the time of a request`() async throws {
    var limits = Limits()
    #expect(limits.patience(afterRequest: .seconds(4)) == .seconds(6))
    #expect(limits.patience(afterRequest: .seconds(12)) == .zero)
    limits.requestTime = .seconds(1)
    let server = try #require(PageServer(port: 0, limits: limits))
    // The time begins when the server accepts the connection, and the first byte must not be late.
    let slow = try HTTPClient(server.port)
    slow.send("GET / HTTP/1.0\r\n")
    let serving = Task { await server.serve { _ in .status(.noContent) } }
    defer { serving.cancel() }
    #expect(await slow.response().hasPrefix("HTTP/1.1 408 "))
    // It keeps its side open.
    await until { server.connectionCount == 0 }
    withExtendedLifetime(slow) {}
  }

  @Test func `a refused connection stays open until the browser closes it`() async throws {
    var limits = Limits()
    limits.requestTime = .seconds(600)
    try await withServer(limits) { server, _ in
      let browser = try HTTPClient(server.port)
      browser.send("POST / HTTP/1.0\r\nContent-Length: 1000000\r\n\r\n")
      #expect(await browser.response().hasPrefix("HTTP/1.1 413 "))
      for _ in 0..<100 {
        browser.send(spaces(1_000))
        await Task.yield()
        #expect(server.connectionCount == 1)
      }
      browser.cancel()
      await until { server.connectionCount == 0 }
    }
  }

  @Test func `a browser beyond the limit receives 503, and is served when a connection closes`()
    async throws
  {
    var limits = Limits()
    limits.connections = 8
    limits.requestTime = .seconds(600)
    try await withServer(limits) { server, _ in
      let idle = try (0..<8).map { _ in try HTTPClient(server.port) }
      await until { server.connectionCount == 8 }
      #expect(try await response(from: server.port, to: "").hasPrefix("HTTP/1.1 503 "))
      for browser in idle { browser.cancel() }
      await until { server.connectionCount == 0 }
      #expect(try await response(from: server.port, to: get).hasSuffix("<p>page</p>"))
    }
  }

  @Test func `browsers that never read delay no other browser, and are disconnected`() async throws
  {
    var limits = Limits()
    limits.unreadTime = .seconds(2)
    let events = BroadcastSource<Data>()
    try await withServer(limits, events) { server, _ in
      let slow = try (0..<50).map { _ in try HTTPClient(server.port, receiveBuffer: 4096) }
      let quick = try HTTPClient(server.port)
      for browser in slow + [quick] { browser.send("GET /events HTTP/1.0\r\n\r\n") }
      await until { events.subscriberCount == 51 }

      let received = Shared(0)
      onNewThread {
        while let more = quick.receive() {
          received.value += more.count { $0 == UInt8(ascii: "#") }
        }
      }
      for round in 1...40 {
        // Fill half the queue of a reader, then wait until it has read all events.
        for _ in 0..<limits.events / 2 {
          events.broadcast(Data("data: #\(String(repeating: "x", count: 4_000))\n\n".utf8))
        }
        await until { received.value >= round * limits.events / 2 }
      }

      #expect(received.value == 40 * limits.events / 2, "each event once")
      await until { events.subscriberCount == 1 }
      #expect(try await response(from: server.port, to: get).hasSuffix("<p>page</p>"))
      withExtendedLifetime(slow) {}
    }
  }

  @Test func `a browser that missed events receives no later events`()
    async throws
  {
    let events = BroadcastSource<Data>()
    try await withServer(Limits(), events) { server, _ in
      let browser = try HTTPClient(server.port, receiveBuffer: 4096)
      browser.send("GET /events HTTP/1.0\r\n\r\n")
      await until { events.subscriberCount == 1 }
      for number in 0..<1_000 {
        events.broadcast(Data("data: \(String(repeating: "x", count: 4_000)) \(number)\n\n".utf8))
      }
      let received = numbers(in: await browser.response())
      #expect(received.count < 1_000 && received == Array(0..<received.count))
    }
  }

  @Test func `a slow browser that may miss events continues with the newest event`() async throws {
    let events = BroadcastSource<Data>()
    try await withServer(Limits(), events, .missesEvents) { server, _ in
      let browser = try HTTPClient(server.port, receiveBuffer: 4096)
      browser.send("GET /events HTTP/1.0\r\n\r\n")
      await until { events.subscriberCount == 1 }
      for number in 0..<1_000 {
        events.broadcast(Data("data: \(String(repeating: "x", count: 4_000)) \(number)\n\n".utf8))
      }
      let received = receivedNumbers(browser)
      await until { received.value.last == 999 }
      #expect(received.value == received.value.sorted() && received.value.count < 1_000)
    }
  }

  @Test func `a slow browser that delays events receives every event once, in order`() async throws
  {
    let events = BroadcastSource<Data>()
    try await withServer(Limits(), events, .delaysEvents) { server, _ in
      let browser = try HTTPClient(server.port, receiveBuffer: 4096)
      browser.send("GET /events HTTP/1.0\r\n\r\n")
      await until { events.subscriberCount == 1 }
      let sentCount = Shared(0)
      let sending = Task {
        for number in 0..<1_000 {
          try? await events.send(
            Data("data: \(String(repeating: "x", count: 4_000)) \(number)\n\n".utf8))
          sentCount.value = number + 1
        }
      }
      await until { events.slowSubscribers.count == 1 }
      #expect(sentCount.value < 1_000, "no event is sent ahead of a browser that does not read")
      let received = receivedNumbers(browser)
      await sending.finished()
      await until { received.value.last == 999 }
      #expect(received.value == Array(0..<1_000))
    }
  }

  @Test func `a disconnected browser is noticed without another event`() async throws {
    let events = BroadcastSource<Data>()
    try await withServer(Limits(), events) { server, _ in
      var browser: HTTPClient? = try HTTPClient(server.port)
      browser?.send("GET /events HTTP/1.0\r\n\r\n")
      await until { events.subscriberCount == 1 }
      browser = nil
      await until { events.subscriberCount == 0 && server.connectionCount == 0 }
    }
  }

  /// Returns the numbers that `browser` receives on a new thread until its connection ends.
  private func receivedNumbers(_ browser: HTTPClient) -> Shared<[Int]> {
    let received = Shared<[Int]>([])
    onNewThread {
      var rest: [UInt8] = []
      while let more = browser.receive() {
        rest += more
        let lines = rest.prefix((rest.lastIndex(of: UInt8(ascii: "\n")) ?? -1) + 1)
        let numbers = numbers(in: String(decoding: lines, as: UTF8.self))
        received.change { $0 += numbers }
        rest.removeFirst(lines.count)
      }
    }
    return received
  }

  /// Returns the numbers at the ends of complete lines.
  private func numbers(in text: String) -> [Int] {
    text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().compactMap { line in
      line.split(separator: " ").last.flatMap { Int($0) }
    }
  }

  @Test func `the task of an answer is canceled when its browser disconnects`() async throws {
    let server = try #require(PageServer(port: 0))
    let (begun, canceled) = (Shared(0), Shared(0))
    let serving = Task {
      await server.serve { _ in
        begun.increment()
        try? await Task.sleep(for: .seconds(86_400))
        canceled.increment()
        return .status(.noContent)
      }
    }
    defer { serving.cancel() }
    var browser: HTTPClient? = try HTTPClient(server.port)
    browser?.send(get)
    await until { begun.value == 1 }
    browser = nil
    await until { canceled.value == 1 && server.connectionCount == 0 }
    // A browser that closed only its output receives its answer.
    let half = try HTTPClient(server.port)
    half.send(get)
    half.finishSending()
    #expect(await half.response().hasPrefix("HTTP/1.1 204 "))
  }

  @Test func `a wrong query is refused before the rest of the request arrives`() async throws {
    let server = try #require(PageServer(port: 0, token: "secret"))
    let serving = Task { await server.serve { _ in .status(.noContent) } }
    defer { serving.cancel() }
    let line = "GET /?token=secreT HTTP/1.1\r\n"
    for rest in ["", "a: b\r\n\r\n", "nonsense \u{1}\r\n\r\n", spaces(20_000)] {
      let answer = try await response(from: server.port, to: line + rest)
      #expect(answer.hasPrefix("HTTP/1.1 403 ") && answer.hasSuffix("with its token.\n"))
    }
    let answer = try await response(from: server.port, to: "GET /?token=%73ecret HTTP/1.0\r\n\r\n")
    #expect(answer.hasPrefix("HTTP/1.1 204 "))
  }

  @Test func `requests that took a regular expression cubic time are answered immediately`()
    async throws
  {
    try await withServer { server, _ in
      for value in [spaces(800) + "\u{2028}", "a" + spaces(7_900) + "b"] {
        let request = "GET / HTTP/1.0\r\nX: \(value)\r\n\r\n"
        // Including 80 browsers that disconnect before their answers.
        for _ in 0..<80 { try HTTPClient(server.port).send(request) }
        #expect(try await response(from: server.port, to: request).hasSuffix("<p>page</p>"))
        await until { server.connectionCount == 0 }
      }
    }
  }

  @Test func `no other page can frame, embed, or read a response`() async throws {
    try await withServer { server, _ in
      for path in ["/", "/none", "/script"] {
        let answer = try await response(from: server.port, to: "GET \(path) HTTP/1.0\r\n\r\n")
          .lowercased()
        for header in [
          "content-security-policy: default-src 'none'; ", "frame-ancestors 'none'\r\n",
          "x-frame-options: deny\r\n", "x-content-type-options: nosniff\r\n",
          "referrer-policy: no-referrer\r\n", "cross-origin-opener-policy: same-origin\r\n",
          "cross-origin-embedder-policy: require-corp\r\n",
          "cross-origin-resource-policy: same-origin\r\n", "permissions-policy: ",
          "cache-control: no-store\r\n",
        ] { #expect(answer.contains(header), "\(path) \(header)") }
        #expect(!answer.contains("unsafe-inline"))
      }
    }
  }

  @Test func `each response with a page has a new nonce`() async throws {
    try await withServer { server, _ in
      var nonces: Set<Substring> = []
      for _ in 0..<3 {
        let answer = try await response(from: server.port, to: "GET /script HTTP/1.0\r\n\r\n")
        let nonce = try #require(answer.split(separator: "script-src 'nonce-").last?.prefix(32))
        #expect(answer.hasSuffix("\r\n\r\n<script nonce=\"\(nonce)\">1</script>"))
        nonces.insert(nonce)
      }
      #expect(nonces.count == 3)
    }
  }

  @Test func `a connection takes one descriptor in each state`() async {
    await #expect(processExitsWith: .success) {
      mustEnd()
      let server = try #require(PageServer(port: 0))
      let events = BroadcastSource<Data>()
      let answers = Shared(0)
      let serving = Task {
        await server.serve { request in
          if request.path == "/events" { return .events(events.publisher, .beginsAnew) }
          answers.increment()
          try? await Task.sleep(for: .seconds(600))
          return .status(.noContent)
        }
      }
      let before = openDescriptors()
      let browsers = try (0..<60).map { _ in try HTTPClient(server.port) }
      for browser in browsers[..<20] { browser.send("GET / HT") }
      for browser in browsers[20..<40] { browser.send("GET /events HTTP/1.0\r\n\r\n") }
      for browser in browsers[40...] { browser.send("GET / HTTP/1.0\r\n\r\n") }
      await until {
        server.connectionCount == 60 && events.subscriberCount == 20 && answers.value == 20
      }
      // The browsers have descriptors in this process also.
      #expect(openDescriptors() - before == 120)
      for browser in browsers { browser.cancel() }
      await until { server.connectionCount == 0 }
      #expect(openDescriptors() - before == 60)
      withExtendedLifetime(browsers) {}
      serving.cancel()
    }
  }

  @Test(arguments: ["127.0.0.1\0.example", "127.0.0.1\0", "\0", "127.1", "localhost", ""])
  func `an address that is not IPv4 in numbers is unavailable`(_ address: String) {
    #expect(PageServer(port: 0, address: address) == nil)
    #expect(errno == EADDRNOTAVAIL)
  }

  #if os(Linux)
  @Test(.enabled(if: scale >= 1, "Sanitizers retain memory."))
  func `answered requests retain no memory`() async {
    await #expect(processExitsWith: .success) {
      mustEnd()
      let server = try #require(PageServer(port: 0))
      let serving = Task { await server.serve { _ in .status(.noContent) } }
      func ask(_ count: Int) async throws -> Int {
        for _ in 0..<count {
          let browser = try HTTPClient(server.port)
          browser.send("GET / HTTP/1.0\r\n\r\n")
          while browser.receive() != nil {}
        }
        await until { server.connectionCount == 0 }
        let sizes = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
        return try #require(Int(sizes.split(separator: " ")[1])) * Int(getpagesize())
      }
      let before = try await ask(1_000)
      // A timer for each request would take 2,200 bytes until its deadline.
      #expect(try await ask(2_000) - before < 2_000_000)
      serving.cancel()
    }
  }
  #endif
}

private func spaces(_ count: Int) -> String { String(repeating: " ", count: count) }
