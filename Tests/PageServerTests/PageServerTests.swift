import Foundation
import MiniRex
import TestSupport
import Testing

@testable import MiniRexPageServer

@Suite(.timeLimit(.minutes(20))) struct PageServerTests {
  /// Serves a page, a counter that `POST` adds to, and events, while the body runs.
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
    await serving.value
    #expect(server.connectionCount == 0)
  }

  func ask(_ port: UInt16, _ text: String) async throws -> String {
    let browser = try Browser(port)
    browser.say(text)
    return await browser.listen()
  }

  let get = "GET / HTTP/1.1\r\n\r\n"

  @Test func `pages are served, and what is posted arrives whole`() async throws {
    try await withServer { server, posts in
      let page = try await ask(server.port, get)
      #expect(page.hasPrefix("HTTP/1.1 200 OK\r\n") && page.hasSuffix("\r\n\r\n<p>page</p>"))
      let text = String(repeating: "é", count: 30_000)
      let posted = try await ask(
        server.port, "POST / HTTP/1.1\r\nContent-Length: \(text.utf8.count)\r\n\r\n\(text)")
      #expect(posted.hasPrefix("HTTP/1.1 204 "))
      #expect(posts.value == [text])
    }
  }

  @Test func `hostile requests get an answer, and change nothing`() async throws {
    try await withServer { server, posts in
      for request in HostileRequest.all {
        let answer = try await ask(server.port, request.text)
        #expect(answer.hasPrefix("HTTP/1.1 \(request.status.line)\r\n"), "\(request.text)")
      }
      #expect(posts.value == [])
      #expect(try await ask(server.port, get).hasSuffix("<p>page</p>"))
    }
  }

  @Test func `a request that ends early or takes too long is answered, and nothing is not`()
    async throws
  {
    try await withServer { server, _ in
      let half = try Browser(server.port)
      half.say("GET / HT")
      half.stopSaying()
      #expect(await half.listen().hasPrefix("HTTP/1.1 400 "))
    }

    var limits = Limits()
    limits.requestTime = .seconds(1)
    try await withServer(limits) { server, _ in
      let (slow, silent) = (try Browser(server.port), try Browser(server.port))
      slow.say("GET / HTTP/1.1\r\n")
      #expect(await slow.listen().hasPrefix("HTTP/1.1 408 "))
      #expect(await silent.listen() == "")
    }
  }

  @Test func `who comes when all places are taken is told so, and served later`() async throws {
    var limits = Limits()
    limits.connections = 8
    limits.requestTime = .seconds(600)
    try await withServer(limits) { server, _ in
      let idle = try (0..<8).map { _ in try Browser(server.port) }
      await until { server.connectionCount == 8 }
      #expect(try await ask(server.port, "").hasPrefix("HTTP/1.1 503 "))
      for browser in idle { browser.leave() }
      await until { server.connectionCount == 0 }
      #expect(try await ask(server.port, get).hasSuffix("<p>page</p>"))
    }
  }

  @Test func `browsers that never read hold nobody up, and are left to begin anew`() async throws {
    var limits = Limits()
    limits.unreadTime = .seconds(2)
    let events = BroadcastSource<Data>()
    try await withServer(limits, events) { server, _ in
      let slow = try (0..<50).map { _ in try Browser(server.port, room: 4096) }
      let quick = try Browser(server.port)
      for browser in slow + [quick] { browser.say("GET /events HTTP/1.1\r\n\r\n") }
      await until { events.subscriberCount == 51 }

      let heard = Shared(0)
      onNewThread {
        while let more = quick.hear() { heard.value += more.count { $0 == UInt8(ascii: "#") } }
      }
      for _ in 0..<40 {
        // As many as a reader has room for, then until it has them.
        for _ in 0..<limits.events / 2 {
          events.broadcast(Data("data: #\(String(repeating: "x", count: 4_000))\n\n".utf8))
        }
        let sent = heard.value / (limits.events / 2) * (limits.events / 2) + limits.events / 2
        await until { heard.value >= sent }
      }

      #expect(heard.value == 40 * limits.events / 2)
      await until { events.subscriberCount == 1 }
      #expect(try await ask(server.port, get).hasSuffix("<p>page</p>"))
      withExtendedLifetime(slow) {}
    }
  }

  @Test func `a browser that reads again after it has missed events gets no later ones`()
    async throws
  {
    let events = BroadcastSource<Data>()
    try await withServer(Limits(), events) { server, _ in
      let browser = try Browser(server.port, room: 4096)
      browser.say("GET /events HTTP/1.1\r\n\r\n")
      await until { events.subscriberCount == 1 }
      for number in 0..<1_000 {
        events.broadcast(Data("data: \(String(repeating: "x", count: 4_000)) \(number)\n\n".utf8))
      }
      let heard = await browser.listen().matches(of: /x (\d+)\n/).compactMap { Int($0.1) }
      #expect(heard.count < 1_000 && heard == Array(0..<heard.count))
    }
  }

  @Test func `a slow browser that may miss events goes on with the newest`() async throws {
    let events = BroadcastSource<Data>()
    try await withServer(Limits(), events, .missesEvents) { server, _ in
      let browser = try Browser(server.port, room: 4096)
      browser.say("GET /events HTTP/1.1\r\n\r\n")
      await until { events.subscriberCount == 1 }
      for number in 0..<1_000 {
        events.broadcast(Data("data: \(String(repeating: "x", count: 4_000)) \(number)\n\n".utf8))
      }
      let numbers = Shared<[Int]>([])
      onNewThread {
        var text = ""
        while let more = browser.hear() {
          text += String(decoding: more, as: UTF8.self)
          numbers.value = text.matches(of: /x (\d+)\n/).compactMap { Int($0.1) }
        }
      }
      await until { numbers.value.last == 999 }
      #expect(numbers.value == numbers.value.sorted() && numbers.value.count < 1_000)
    }
  }

  @Test func `a browser that leaves is forgotten at once`() async throws {
    let events = BroadcastSource<Data>()
    try await withServer(Limits(), events) { server, _ in
      var browser: Browser? = try Browser(server.port)
      browser?.say("GET /events HTTP/1.1\r\n\r\n")
      await until { events.subscriberCount == 1 }
      browser = nil
      await until { events.subscriberCount == 0 && server.connectionCount == 0 }
    }
  }
}
