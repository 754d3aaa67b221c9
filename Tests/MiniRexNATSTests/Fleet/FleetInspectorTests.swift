#if NATS
import Foundation
import MiniRex
import MiniRexNATS
import MiniRexStore
import MiniRexTesting
import TestSupport
import Testing

@testable import MiniRexFleet

@Suite(.heavy)
struct FleetInspectorTests {
  private struct Board: Codable, Sendable { var cards: [String] = [] }

  /// A member, a page over another connection, and a store that the member watches.
  private struct Rooms {
    let server: NATSServer
    let (nats, viewer): (NATSConnection, NATSConnection)
    let graph = LiveGraph()
    let store: Store<Board, String>
    let member: FleetMember
    let browser: FleetBrowser

    var port: UInt16 { browser.page.port }

    init(_ configuration: String = "") async throws {
      server = try await NATSServer(configuration)
      nats = NATSConnection(server.url)
      viewer = NATSConnection(server.url)
      store = withInstrument(graph) {
        Store<Board, String>(Board(), name: "board") { board, card in
          board.cards.append(card)
          return .none
        }
      }
      member = FleetMember(
        of: "production", over: nats, name: "billing", version: "1.4.2", inspecting: graph)
      member.watch(store)
      let browser = try FleetBrowser(of: "production", over: viewer)
      self.browser = browser
      await until { browser.row("billing") != nil }
    }

    func get(_ path: String) async throws -> String {
      try await response(
        from: port, to: "GET /process/\(member.id)\(path) HTTP/1.0\r\n\r\n")
    }

    /// The requests that the inspector is answering.
    var openCount: Int { member.core.endpoint?.slots.usedCount ?? -1 }
  }

  @Test func `M4 every inspector is one click away`() async throws {
    let rooms = try await Rooms()
    rooms.store.send("Order a belt")

    let page = try await rooms.get("/")
    #expect(page.hasPrefix("HTTP/1.1 200") && page.contains("MiniRex Inspector"))
    #expect(try await rooms.get("/tree").contains("board"))
    #expect(try await rooms.get("/metrics").contains("minirex_store_commits_total"))
    #expect(try await rooms.get("/ready").hasSuffix("ready\n"))
    let session = try await rooms.get("/session")
    #expect(session.contains("application/json"), "\(session)")
    #expect(try await rooms.get("/nothing").hasPrefix("HTTP/1.1 404"))
    let post = try await response(
      from: rooms.port, to: "POST /process/\(rooms.member.id)/tree HTTP/1.0\r\n\r\n")
    #expect(post.hasPrefix("HTTP/1.1 405"))
    await rooms.nats.close()
    #expect(try await rooms.get("/tree").hasPrefix("HTTP/1.1 503"))
    await rooms.viewer.close()
  }

  @Test func `M4 the events of an inspector arrive while its page is open`() async throws {
    let rooms = try await Rooms()
    let client = try HTTPClient(rooms.port)
    let (events, path) = (Shared<[String]>([]), "/process/\(rooms.member.id)/events")
    onNewThread { client.forEachEvent(at: path) { events.append($0.joined(separator: "\n")) } }
    await until { events.value.contains { $0.contains("event: all") } }
    #expect(rooms.openCount == 1)

    rooms.store.send("Order a belt")
    await until { events.value.contains { $0.contains("Order a belt") } }

    // A closed page stops the inspector, in the member's process.
    client.cancel()
    await until { rooms.openCount == 0 }
    await rooms.nats.close()
    await rooms.viewer.close()
  }

  @Test func `M4 a process answers at most 16 requests for its inspector at once`() async throws {
    let rooms = try await Rooms()
    let clients = try (1...16).map { _ in try HTTPClient(rooms.port) }
    for client in clients {
      client.send("GET /process/\(rooms.member.id)/events HTTP/1.0\r\n\r\n")
    }
    await until { rooms.openCount == 16 }
    #expect(try await rooms.get("/tree").contains("Too many pages are open."))

    clients[0].cancel()
    await until { rooms.openCount == 15 }
    #expect(try await rooms.get("/tree").contains("board"))
    // A process that ends cancels its requests.
    await rooms.viewer.close()
    await until { rooms.openCount == 0 }
    await rooms.nats.close()
  }

  @Test func `M4 an answer larger than a message arrives whole`() async throws {
    let rooms = try await Rooms()
    let sources = (1...8_000).map {
      BroadcastSource<Int>(name: "a source with number \($0)", instrument: rooms.graph)
    }

    let tree = try await rooms.get("/tree")
    #expect(tree.utf8.count > 300 << 10)
    #expect(tree.split(separator: "a source with number ").count == 8_001)
    withExtendedLifetime(sources) {}
    await rooms.nats.close()
    await rooms.viewer.close()
  }

  @Test func `M4 a blocking callback of the page's process delays no inspector`() async throws {
    let rooms = try await Rooms()
    let (mayGo, hasCome) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let blocked = rooms.viewer.request(String.self, "", on: "nobody", timeout: .seconds(600))
      .subscribe { _ in
        hasCome.signal()
        mayGo.waitAtMost()
      }
    await hasCome.isSignalled()
    // The callback delays the requests that are made in its first 10 ms.
    await until(
      await rooms.viewer.request(String.self, "", on: "nobody", timeout: .seconds(1)).result
        != .failure(.timedOut))

    for _ in 1...20 { #expect(try await rooms.get("/tree").contains("board")) }
    mayGo.signal()
    withExtendedLifetime(blocked) {}
    await rooms.nats.close()
    await rooms.viewer.close()
  }

  @Test func `M4 a process without inspecting has no inspector`() async throws {
    let rooms = try await Rooms()
    let shy = FleetMember(of: "production", over: rooms.nats, name: "shy", version: "1.0.0")
    await until { rooms.browser.row("shy") != nil }

    for id in [shy.id, "UNKNOWN", "a.b", "*", "%2e%2e"] {
      let answer = try await response(
        from: rooms.port, to: "GET /process/\(id)/tree HTTP/1.0\r\n\r\n")
      #expect(answer.hasPrefix("HTTP/1.1 404"))
    }
    let direct = rooms.viewer.request(
      String.self, ["path": "/tree", "frames": "x"], on: "_MINIREX.inspect.production.\(shy.id)",
      timeout: .seconds(600))
    #expect(await direct.result == .failure(.noResponders))
    await rooms.nats.close()
    await rooms.viewer.close()
  }

  @Test func `M4 the permissions in the article suffice`() async throws {
    let server = try await NATSServer(
      """
      authorization { users = [
        { user: member, password: a, permissions: {
          publish: ["_MINIREX.report.production.*", "_MINIREX.frames.production.*", "_INBOX.>"]
          subscribe: ["$SRV.>", "_MINIREX.inspect.production.*",
            "_MINIREX.cancel._MINIREX.inspect.production.*", "_INBOX.>"] } }
        { user: page, password: b, permissions: {
          publish: ["_MINIREX.probe.production.*", "_MINIREX.inspect.production.*",
            "_MINIREX.cancel._MINIREX.inspect.production.*", "_INBOX.>"]
          subscribe: ["_MINIREX.report.production.*", "_MINIREX.frames.production.*",
            "_MINIREX.probe.production.*", "_INBOX.>"] } }
      ] }
      """)
    func connect(_ user: String) -> NATSConnection {
      NATSConnection(server.url.replacing("nats://", with: "nats://\(user)@"))
    }
    let (nats, viewer) = (connect("member:a"), connect("page:b"))
    let refusals = Recorder(merge(nats.diagnostics, viewer.diagnostics))
    let member = FleetMember(
      of: "production", over: nats, name: "billing", version: "1.0.0", inspecting: LiveGraph())
    let browser = try FleetBrowser(of: "production", over: viewer)
    await until { browser.answers && browser.row("billing") != nil }
    let client = try HTTPClient(browser.page.port)
    let events = Shared(0)
    let path = "/process/\(member.id)/events"
    onNewThread { client.forEachEvent(at: path) { _ in events.increment() } }
    await until { events.value > 0 }
    // Longer than the interval at which the member checks that the page's process exists.
    let count = browser.eventCount
    await until { browser.eventCount > count + 4 }
    #expect(member.core.endpoint?.slots.usedCount == 1)

    client.cancel()
    await until { member.core.endpoint?.slots.usedCount == 0 }
    #expect(refusals.updates == [])
    await nats.close()
    await viewer.close()
  }

  @Test func `M4 permissions on the subject of inspectors guard them`() async throws {
    let rooms = try await Rooms(
      """
      authorization { users = [
        { user: member, password: a },
        { user: guest, password: b, permissions: { publish: { deny: "_MINIREX.inspect.>" } } }
      ] }
      no_auth_user: member
      """)
    let url = rooms.server.url.replacing("nats://", with: "nats://guest:b@")
    let guest = NATSConnection(url)
    let page = try FleetPage(of: "production", over: guest)
    let browser = try FleetBrowser(page)
    await until { browser.row("billing") != nil }

    let client = try HTTPClient(page.port)
    let denied = Recorder(guest.diagnostics)
    client.send("GET /process/\(rooms.member.id)/tree HTTP/1.0\r\n\r\n")
    let refusal = await denied.next()
    #expect("\(String(describing: refusal))".contains("_MINIREX.inspect"))
    client.cancel()
    #expect(try await rooms.get("/tree").contains("board"))
    await guest.close()
    await rooms.nats.close()
    await rooms.viewer.close()
  }
}
#endif
