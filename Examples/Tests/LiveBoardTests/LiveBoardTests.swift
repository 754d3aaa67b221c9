import Foundation
import TestSupport
import Testing

@Suite(.heavy, .serialized) struct LiveBoardTests {
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

  func get(_ path: String, readsOutput: Bool = true) throws -> EventClient {
    try EventClient(port: port, "GET \(path) HTTP/1.0\r\n\r\n", readsOutput: readsOutput)
  }

  @Test func `the page loads nothing from other servers`() async throws {
    let page = try await get("/").output.rest().joined(separator: "\n")

    #expect(page.hasPrefix("HTTP/1.1 200 OK\r\n"))
    #expect(page.contains("<title>live-board</title>") && page.hasSuffix("</html>"))
    let links = page.split(whereSeparator: \.isWhitespace).filter { $0.contains("http") }
    #expect(links.map(String.init) == ["document.createElementNS(\"http://www.w3.org/2000/svg\","])
  }

  @Test func `events contain the entire state, and samples arrive at their interval`() async throws
  {
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

  @Test func `changes in the directory are counted and reported by name`() async throws {
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

  @Test func `the removal of the directory is reported`() async throws {
    let browser = try get("/events")
    #expect(try await browser.event().changes.isWatched)

    try FileManager.default.removeItem(atPath: folder.path(""))

    #expect(try await !browser.event("\"isWatched\":false").changes.isWatched)
  }

  @Test
  func `a browser that never reads delays no other browser, and continues with the newest event`()
    async throws
  {
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

  @Test func `a hundred browsers receive events, and are not counted after they disconnect`()
    async throws
  {
    let browsers = try (1...100).map { _ in try get("/events") }
    for browser in browsers {
      #expect(try await browser.event(browsers: 100).browsers == 100)
    }

    for browser in browsers { browser.cancel() }

    #expect(try await get("/events").event(browsers: 1).browsers == 1)
  }

  @Test func `a browser that disconnects is no longer counted, even without further changes`()
    async throws
  {
    let (quiet, port) = try await Self.start(folder, every: "3600")
    let first = try EventClient(port: port, "GET /events HTTP/1.0\r\n\r\n")
    #expect(try await first.event(browsers: 1).browsers == 1)

    first.cancel()

    let second = try EventClient(port: port, "GET /events HTTP/1.0\r\n\r\n")
    #expect(try await second.event(browsers: 1).browsers == 1)
    withExtendedLifetime(quiet) {}
  }

  @Test(arguments: [
    ("GET /nothing HTTP/1.0", "404 Not Found"), ("POST / HTTP/1.0", "405 Method Not Allowed"),
    ("GET /nothing?x=1 HTTP/1.0", "404 Not Found"), ("nonsense", "400 Bad Request"),
    ("GET / HTTP/2", "400 Bad Request"), ("", "400 Bad Request"),
    (String(repeating: "x", count: 20_000), "400 Bad Request"),
  ])
  func `a bad request is answered with a reason, and the next request is served`(
    line: String, status: String
  )
    async throws
  {
    let answer = try await EventClient(port: port, "\(line)\r\n\r\n").output.rest()

    #expect(answer.first == "HTTP/1.1 \(status)\r")
    #expect(try await get("/").output.until("200 OK").count == 1)
  }

  @Test func `a request may arrive in pieces, or never`() async throws {
    let nothing = try EventClient(port: port, "")
    let half = try EventClient(port: port, "GET / HT")
    half.cancel()
    let pieces = try EventClient(port: port, "GET /eve")
    for piece in ["nts HTTP/1.1\r\n", "Host: localhost\r", "\n\r\n"] { pieces.write(piece) }

    #expect(try await pieces.event().browsers == 1)
    nothing.cancel()
    #expect(await nothing.output.rest() == [])
  }

  @Test(arguments: [SIGINT, SIGTERM])
  func `the program exits with 0 after a signal, even while browsers are connected`(signal: Int32)
    async throws
  {
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

  @Test func `a used port, a missing directory, and an invalid option are reported`() async throws {
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
