import Foundation
import TestSupport
import Testing

@Suite(.serialized, .timeLimit(.minutes(20))) struct LiveBoardTests {
  let folder: Folder
  let board: Child
  let port: UInt16

  init() async throws {
    folder = try Folder()
    (board, port) = try await Self.start(folder, every: "0.01")
  }

  static func start(_ folder: Folder, every seconds: String) async throws -> (Child, UInt16) {
    let board = try Child(
      "--port", "0", "--directory", folder.path(""), "--every", seconds, program: "live-board")
    let address = await board.output.until("http").last ?? ""
    return (board, try #require(UInt16(address.split { !$0.isNumber }.last ?? "")))
  }

  func get(_ path: String, readsOutput: Bool = true) throws -> Client {
    try Client(port: port, "GET \(path) HTTP/1.1\r\n\r\n", readsOutput: readsOutput)
  }

  @Test func `the page is served whole, and takes nothing from elsewhere`() async throws {
    let page = try await get("/").output.rest().joined(separator: "\n")

    #expect(page.hasPrefix("HTTP/1.1 200 OK\r\n"))
    #expect(page.contains("<title>live-board</title>") && page.hasSuffix("</html>"))
    #expect(
      page.matches(of: /https?:\S*/).map { String($0.0) } == ["http://www.w3.org/2000/svg\","])
  }

  @Test func `events tell all that the page shows, and samples come in time`() async throws {
    let browser = try get("/events")

    let first = try await browser.event()
    var last = first
    while last.samples.count < 121 || last.samples == first.samples {
      last = try await browser.event()
    }

    #expect(first.samples.count <= 121 && last.samples.count == 121)
    #expect(last.samples.allSatisfy { $0.load.count == 3 && $0.load[0] >= 0 })
    #if os(Linux)
      let memory = try #require(last.samples.last?.memory)
      #expect((1...memory.total).contains(memory.used))
    #endif
  }

  @Test func `what happens in the directory is told by name, and counted`() async throws {
    let browser = try get("/events")
    let before = try await browser.event()

    try folder.write("text", to: "a \"name\".txt")
    var after = before
    while after.samples.last?.changes == 0 { after = try await browser.event() }

    #expect(before.changes.count == 0)
    #expect(after.changes.newestFirst.last?.name == "a \"name\".txt")
    #expect(after.changes.newestFirst.last?.kind == "created")
    #expect(after.changes.count >= after.changes.newestFirst.count)
  }

  @Test func `a directory that goes is told`() async throws {
    let browser = try get("/events")
    #expect(try await browser.event().changes.isWatched)

    try FileManager.default.removeItem(atPath: folder.path(""))

    #expect(try await !browser.event("\"isWatched\":false").changes.isWatched)
  }

  @Test func `a browser that never reads slows nobody, and goes on with the newest`() async throws {
    let slow = try get("/events", readsOutput: false)
    let quick = try get("/events")
    _ = try await quick.event(browsers: 2)
    for _ in 1...30 { _ = try await quick.event() }
    try folder.write("text", to: "late.txt")
    _ = try await quick.event("late.txt")

    slow.beginReading()
    let lines = await slow.output.until("late.txt")

    #expect(lines.last?.contains("late.txt") == true)
    #expect(lines.count { $0.hasPrefix("data: ") } < 25)
  }

  @Test func `a hundred browsers get their events, and are forgotten when they leave`() async throws
  {
    let browsers = try (1...100).map { _ in try get("/events") }
    for browser in browsers {
      #expect(try await browser.event(browsers: 100).browsers == 100)
    }

    for browser in browsers { browser.leave() }

    #expect(try await get("/events").event(browsers: 1).browsers == 1)
  }

  @Test func `a browser that leaves is forgotten at once, also when nothing happens`() async throws
  {
    let (quiet, port) = try await Self.start(folder, every: "3600")
    let first = try Client(port: port, "GET /events HTTP/1.1\r\n\r\n")
    #expect(try await first.event(browsers: 1).browsers == 1)

    first.leave()

    let second = try Client(port: port, "GET /events HTTP/1.1\r\n\r\n")
    #expect(try await second.event(browsers: 1).browsers == 1)
    withExtendedLifetime(quiet) {}
  }

  @Test(arguments: [
    ("GET /nothing HTTP/1.1", "404 Not Found"), ("POST / HTTP/1.1", "405 Method Not Allowed"),
    ("GET /nothing?x=1 HTTP/1.1", "404 Not Found"), ("nonsense", "400 Bad Request"),
    ("GET / HTTP/2", "400 Bad Request"), ("", "400 Bad Request"),
    (String(repeating: "x", count: 20_000), "400 Bad Request"),
  ])
  func `a bad request gets a reason, and the next one is served`(line: String, status: String)
    async throws
  {
    let answer = try await Client(port: port, "\(line)\r\n\r\n").output.rest()

    #expect(answer.first == "HTTP/1.1 \(status)\r")
    #expect(try await get("/").output.until("200 OK").count == 1)
  }

  @Test func `a request may come in pieces, and not at all`() async throws {
    let nothing = try Client(port: port, "")
    let half = try Client(port: port, "GET / HT")
    half.leave()
    let pieces = try Client(port: port, "GET /eve")
    for piece in ["nts HTTP/1.1\r\n", "Host: localhost\r", "\n\r\n"] { try pieces.write(piece) }

    #expect(try await pieces.event().browsers == 1)
    nothing.leave()
    #expect(await nothing.output.rest() == [])
  }

  @Test(arguments: [SIGINT, SIGTERM])
  func `a signal ends it well, also while browsers look`(signal: Int32) async throws {
    let reading = try get("/events")
    let slow = try get("/events", readsOutput: false)
    _ = try await reading.event(browsers: 2)
    for _ in 1...20 { _ = try await reading.event() }

    board.send(signal)

    let (status, errors) = (await board.status(), await board.errors.rest())
    #expect(errors == [])
    #expect(status == 0)
    #expect(await reading.output.rest().last != nil)
    withExtendedLifetime(slow) {}
  }

  @Test func `a port in use, no directory, and a wrong option are told`() async throws {
    let inUse = try Child("--port", "\(port)", program: "live-board")
    #expect(await inUse.errors.rest() == ["live-board: port \(port): Address already in use"])
    #expect(await inUse.status() == 1)

    let missing = try Child("--directory", folder.path("nowhere"), program: "live-board")
    #expect(
      await missing.errors.rest() == ["live-board: \(folder.path("nowhere")): no such directory"])
    #expect(await missing.status() == 1)

    for wrong in [["--port"], ["--port", "65536"], ["--every", "0"], ["--every", "x"], ["file"]] {
      let child = try Child(wrong, program: "live-board")
      #expect(await child.errors.rest().first?.hasPrefix("usage: ") == true)
      #expect(await child.status() == 2)
    }
  }
}
