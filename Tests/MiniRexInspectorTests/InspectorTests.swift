import Foundation
import MiniRex
import MiniRexFoundationAdapters
import MiniRexPageServer
import MiniRexStore
import TestSupport
import Testing

@testable import MiniRexInspector

struct List: Sendable, Encodable {
  var name = "list"
  var items: [String] = []
}

enum ListAction: Sendable {
  case add(String)
  case remove
  case rename(String)
}

func listing(_ state: inout List, _ action: ListAction) -> Effect<ListAction> {
  switch action {
  case .add(let item): state.items.append(item)
  case .remove: _ = state.items.popLast()
  case .rename(let name): state.name = name
  }
  return .none
}

/// A state with common parts that are not `Encodable`.
struct Opaque: Sendable {
  final class Box: Sendable {}
  enum Mode: Sendable {
    case quiet
    case loud(level: Int)
  }

  var mode = Mode.quiet
  var pair = (1, "two")
  var maybe: Double?
  var list = List()
  let box = Box()
}

let hostile = "<script>alert('1')</script>\"&\n\u{1}]]>"

@Suite(.light, .serialized) struct InspectorTests {
  let graph = LiveGraph()

  func makeList() -> Store<List, ListAction> { Store(List(), reducer: listing) }

  @Test func `the graph contains rates and queued updates`() async throws {
    let numbers = BroadcastSource<Int>(name: "numbers", instrument: graph)
    let queue = DispatchQueue(label: "test")
    queue.suspend()
    let subscriptions = [
      numbers.publisher.map { $0 + 1 }.subscribe { _ in },
      numbers.publisher.receive(on: queue).subscribe { _ in },
    ]
    for number in 0..<3 { numbers.broadcast(number) }
    var settings = Settings()
    (settings.interval, settings.rates) = (.milliseconds(5), .milliseconds(50))
    let inspector = try Inspector(of: graph, settings)
    let page = try WatchingPage(inspector.port)

    await until { page.graph?.tree.contains("3, 3 pending → receive") == true }
    #expect(page.graph?.tree.contains("numbers, MiniRexInspectorTests/") == true)
    await until {
      numbers.broadcast(0)
      return page.graph?.tree.contains("/s") == true
    }
    queue.resume()
    await until { page.graph?.tree.contains("pending") == false }

    let shape = try #require(page.graph?.shape)
    #expect(shape.nodes.map(\.role).filter { $0 == "subscription" }.count == 2)
    #expect(shape.nodes.first?.place?.hasPrefix("MiniRexInspectorTests/") == true)
    #expect(shape.edges.count == 4 && page.graph?.edges.count == 4)
    #expect(page.graph?.node("numbers")?.subscribers == 2)
    #expect(try await get(inspector.port, "/tree").contains("\r\n\r\nnumbers, "))
    withExtendedLifetime(subscriptions) {}
  }

  @Test func `each commit has its changes and its resulting state`() async throws {
    let inspector = try Inspector(of: graph)
    let store = makeList()
    inspector.watch(store, name: "list")
    let page = try WatchingPage(inspector.port)
    await until { store.subscriberCount == 1 }

    store.send(.add("a"))
    store.send(.rename("other"))
    store.send(.rename("other"))
    store.send(.remove)
    await until { page.commits.count == 4 }

    typealias Change = WatchingPage.Change
    #expect(page.store()?.name == "list" && page.store()?.counts?.subscribers == 0)
    #expect(page.commits.map(\.number) == [1, 2, 3, 4])
    #expect(page.commits.map(\.cause).last == "remove")
    #expect(
      page.commits.map(\.changes) == [
        [Change(path: "items", old: "[]"), Change(path: "items/0", new: "\"a\"")],
        [Change(path: "name", old: "\"list\"", new: "\"other\"")], [],
        [Change(path: "items", new: "[]"), Change(path: "items/0", old: "\"a\"")],
      ])
    #expect(
      try await commit(1, inspector.port)?.values == ["name": "\"list\"", "items/0": "\"a\""])
    #expect(
      try await commit(3, inspector.port)?.values == ["name": "\"other\"", "items/0": "\"a\""])
    #expect(try await commit(4, inspector.port)?.values == ["name": "\"other\"", "items": "[]"])
    for path in ["/stores/0/commits/5", "/stores/1/commits/1", "/stores/-1/commits/1", "/x"] {
      #expect(try await get(inspector.port, path).hasPrefix("HTTP/1.1 404 "), "\(path)")
    }
  }

  @Test func `a state that is not Encodable is shown by reflection`() async throws {
    let inspector = try Inspector(of: graph)
    let store = Store(Opaque())
    inspector.watch(store)
    let page = try WatchingPage(inspector.port)
    await until { store.subscriberCount == 1 }

    store.commit("louder") { $0.mode = .loud(level: 3) }
    store.commit("more") { $0.maybe = 1.5 }
    await until { page.commits.count == 2 }

    let values = try #require(try await commit(2, inspector.port)?.values)
    #expect(page.store()?.name == "Opaque" && page.commits.map(\.cause) == ["louder", "more"])
    #expect(values["mode/loud/level"] == "3" && values["pair/.1"] == "\"two\"")
    #expect(values["maybe"] == "1.5" && values["list/name"] == "\"list\"")
    #expect(values["box"]?.contains("Box") == true)
  }

  @Test func `the inspector subscribes to a store while a page is open, or always on request`()
    async throws
  {
    let inspector = try Inspector(of: graph)
    let (seen, kept) = (makeList(), makeList())
    inspector.watch(seen)
    inspector.watch(kept, alwaysRecords: true)
    #expect(seen.subscriberCount == 0 && kept.subscriberCount == 1)
    for store in [seen, kept] { store.send(.add("before")) }

    let page = try WatchingPage(inspector.port)
    await until { page.store(1)?.commits.count == 1 }
    #expect(seen.subscriberCount == 1 && page.store(0)?.commits.isEmpty == true)
    seen.send(.add("during"))
    await until { page.store(0)?.commits.count == 1 }
    page.cancel()
    await until { seen.subscriberCount == 0 }
    for item in 0..<3 { seen.send(.add("\(item)")) }

    let other = try WatchingPage(inspector.port)
    await until { other.store(0)?.commits.count == 2 }
    let commit = try #require(other.store(0)?.commits.last)
    #expect(commit.cause == "while no page was open" && commit.previous == 2 && commit.number == 5)
    #expect(commit.changes.map(\.path) == ["items/2", "items/3", "items/4"])
  }

  @Test func `a watched store is deallocated, and its page reports it`() async throws {
    let inspector = try Inspector(of: graph)
    let page = try WatchingPage(inspector.port)
    weak var gone: Store<List, ListAction>?
    do {
      let store = makeList()
      gone = store
      inspector.watch(store, alwaysRecords: true)
      store.send(.add("last"))
      await until { page.commits.count == 1 }
    }
    // The inspector retains the store while it reads its counts.
    await until { gone == nil }
    #expect(gone == nil)
    await until { page.store() != nil && page.store()?.counts == nil }
    #expect(try await commit(1, inspector.port)?.values["items/0"] == "\"last\"")
  }

  @Test func `another address requires the token, and host names are refused`()
    async throws
  {
    let open = try Inspector(of: graph, address: "0.0.0.0")
    let token = try #require(open.token)
    #expect(token.count == 32 && open.url.query() == "token=\(token)")
    let own = try Inspector(of: graph, token: "own & secret")
    #expect(own.url.absoluteString.hasSuffix("/?token=own%20%26%20secret"))

    for (inspector, query) in [(open, "?token=\(token)"), (own, "?token=own%20%26%20secret")] {
      for path in ["/", "/events", "/tree", "/stores/0/commits/1", "/x"] {
        for query in ["", "?token", "?token=", "?token=\(token)0", "?token=own"] {
          let answer = try await get(inspector.port, path + query)
          #expect(answer.hasPrefix("HTTP/1.1 403 "), "\(path) \(query)")
        }
      }
      #expect(try await get(inspector.port, "/" + query).hasPrefix("HTTP/1.1 200 "))
      #expect(
        try await get(inspector.port, "/stores/0/commits/1" + query).hasPrefix("HTTP/1.1 404 "))
      let page = try WatchingPage(inspector.port, query)
      await until { page.graph != nil }
    }
    func status(_ inspector: Inspector, _ host: String) async throws -> String {
      let query = inspector.url.query(percentEncoded: true).map { "?\($0)" } ?? ""
      let answer = try await response(
        from:
          inspector.port, to: "GET /\(query) HTTP/1.1\r\nHost: \(host)\r\n\r\n")
      return String(answer.dropFirst(9).prefix(3))
    }
    for host in ["localhost", "127.0.0.1:\(own.port)"] {
      #expect(try await status(own, host) == "200")
      #expect(try await status(open, host) == "200")
    }
    #expect(try await status(open, "192.0.2.7:\(open.port)") == "200")
    #expect(try await status(own, "192.0.2.7") == "403")
    for host in ["elsewhere", "192.0.2.7.elsewhere", "localhost.elsewhere", "1.2.3"] {
      #expect(try await status(own, host) == "403")
      #expect(try await status(open, host) == "403")
    }
    let failure = #expect(throws: POSIXError.self) { _ = try Inspector(of: graph, port: own.port) }
    #expect(failure?.code == .EADDRINUSE)
    for address in ["127.0.0.1", "127.0.0.2", "127.1.2.3"] {
      let inspector = try Inspector(of: graph, address: address)
      #expect(inspector.url.host() == address)
      let browser = try HTTPClient(inspector.port, address: address)
      browser.send("GET / HTTP/1.1\r\nHost: \(address):\(inspector.port)\r\n\r\n")
      #expect(await browser.response().hasPrefix("HTTP/1.1 200 "))
    }
    for address in ["localhost", "1.2.3", "192.0.2.7"] {
      #expect(throws: POSIXError.self) { _ = try Inspector(of: graph, address: address) }
    }
  }

  @Test(arguments: ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD", "TRACE"])
  func `every method except GET is refused`(method: String) async throws {
    let inspector = try Inspector(of: graph)
    let store = makeList()
    inspector.watch(store, alwaysRecords: true)
    for path in ["/", "/events", "/tree", "/stores/0/commits/1"] {
      let body = "Content-Length: 5\r\n\r\nclose"
      let answer = try await response(
        from: inspector.port, to: "\(method) \(path) HTTP/1.0\r\n\(body)")
      #expect(answer.hasPrefix("HTTP/1.1 405 "))
    }
    #expect(store.state.items == [])
  }

  @Test func `names and values are shown as text`() async throws {
    let source = BroadcastSource<Int>(name: hostile, instrument: graph)
    let subscription = source.publisher.trace(hostile, instrument: graph).subscribe { _ in }
    let store = makeList()
    let inspector = try Inspector(of: graph)
    inspector.watch(store, name: hostile)
    let page = try WatchingPage(inspector.port)
    await until { store.subscriberCount == 1 }
    store.send(.rename(hostile))
    await until { page.commits.count == 1 }

    #expect(page.store()?.name == hostile)
    #expect(page.graph?.tree.contains("<script>") == true)
    #expect(page.graph?.tree.split(separator: "\n").count == 3)
    #expect(page.graph?.shape?.nodes.first?.name == hostile)
    let value = try await commit(1, inspector.port)?.values["name"]
    #expect(value == FlatValue.string(hostile).description)
    // The page inserts received values as text, and its policy permits only its own script.
    let html = try await get(inspector.port, "/")
    #expect(html.contains("script-src 'nonce-") && html.hasSuffix("</html>\n"))
    #expect(!html.contains("NONCE") && !html.contains("script-src 'unsafe-inline'"))
    #expect(try await get(inspector.port, "/") != html)
    for word in ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("] {
      #expect(!html.contains(word))
    }
    withExtendedLifetime(subscription) {}
  }

  @Test func `pages that never read delay no sender, and are disconnected`() async throws {
    var settings = Settings()
    settings.limits.unreadTime = .milliseconds(500)
    settings.interval = .milliseconds(5)
    (settings.recordingShare, settings.eventsShare) = (nil, nil)
    let inspector = try Inspector(of: graph, settings)
    let store = makeList()
    inspector.watch(store)
    let slow = try (0..<50).map { _ in try HTTPClient(inspector.port, receiveBuffer: 4096) }
    for browser in slow { browser.send("GET /events HTTP/1.0\r\n\r\n") }
    // A busy machine may disconnect this page as well.
    let page = try WatchingPage(inspector.port, reconnects: true)
    await until { page.store() != nil }

    let haveLeft = Shared(0)
    let text = String(repeating: "x", count: 2_000)
    await until {
      store.send(.rename("\(store.lastNumber) \(text)"))
      return page.store()?.number ?? 0 > 2_000
    }
    for browser in slow {
      onNewThread {
        while browser.receive() != nil {}
        haveLeft.increment()
      }
    }
    await until { haveLeft.value == 50 }

    store.send(.rename("end"))
    await until {
      guard let last = page.commits.last, last.number == store.lastNumber else { return false }
      if last.cause == "rename(\"end\")" { return true }
      // The last page was about to reconnect, so the cause was not recorded.
      store.send(.rename("end"))
      return false
    }
    #expect(page.commits.last?.cause == "rename(\"end\")" && page.commits.count <= 200)
  }

  @Test func `releasing an inspector closes all pages and all descriptors`() async {
    await #expect(processExitsWith: .success) {
      mustEnd()
      let graph = LiveGraph()
      let store = Store(List(), reducer: listing)
      var descriptors = 0
      // The first run opens descriptors that the platform keeps.
      for run in 0..<3 {
        var inspector = try Optional(Inspector(of: graph))
        inspector?.watch(store, alwaysRecords: true)
        let port = inspector?.port ?? 0
        let pages = try (0..<4).map { _ in try WatchingPage(port) }
        await until { pages.allSatisfy { $0.graph != nil } }
        inspector = nil

        await until { pages.allSatisfy(\.hasEnded) && store.subscriberCount == 0 }
        await until { (try? HTTPClient(port)) == nil }
        withExtendedLifetime(pages) {}
        if run == 0 { descriptors = openDescriptors() }
      }
      await until { openDescriptors() <= descriptors }
      #expect(graph.tree() == "")
    }
  }
}
