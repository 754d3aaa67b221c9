import Foundation
import MiniRex
import MiniRexFoundationAdapters
import MiniRexJournal
import MiniRexStore
import Synchronization
import TestSupport
import Testing

extension Notification.Name {
  fileprivate static let orderPlaced = Notification.Name("orderPlaced")
}

private enum OrderAction: Codable, Sendable, Equatable {
  case placed(String)
}

private struct Request: Sendable {
  var headers: [String: String] = [:]
}

private final class Response: Sendable {
  struct Closed: Error {}

  let frames = Mutex<[String]>([])

  /// Throws after two frames, as a closed connection does.
  func write(_ frame: String) async throws {
    let count = frames.withLock { frames in
      frames.append(frame)
      return frames.count
    }
    if count == 2 { throw Closed() }
  }
}

private func log(_ line: String) { Issue.record("\(line)") }

private struct Server {
  let store: Store<[String], OrderAction>
  let journal: Journal<[String], OrderAction>
  private let subscription: Subscription

  init(_ file: URL) throws {
    journal = try Journal(file)
    store = Store([]) { orders, action in
      if case .placed(let order) = action { orders.append(order) }
      return .none
    }
    subscription = journal.record(store)
  }

  func stream(_ request: Request, to response: Response) async throws {
    let last = request.headers["last-event-id"].flatMap { Int($0) }
    for try await frame in store.eventFrames(after: last, in: journal, keepAlive: .seconds(15)) {
      try await response.write(frame)
    }
  }
}

@Suite(.light) struct EventFramesSamples {
  @Test func `a store is served as server-sent events`() async throws {
    let folder = try Folder()
    let server = try Server(folder.file("orders.journal"))
    for order in ["tea", "rice", "salt"] { server.store.send(.placed(order)) }
    let response = Response()

    await #expect(throws: Response.Closed.self) {
      try await server.stream(Request(headers: ["last-event-id": "1"]), to: response)
    }

    #expect(
      response.frames.withLock { $0 } == [
        "event: action\nid: 2\ndata: {\"placed\":{\"_0\":\"rice\"}}\n\n",
        "event: action\nid: 3\ndata: {\"placed\":{\"_0\":\"salt\"}}\n\n",
      ])
  }

  @Test func `notifications are recorded at the pace of the disk`() async throws {
    let folder = try Folder()
    let center = NotificationCenter()
    let server = try Server(folder.file("orders.journal"))
    let (store, journal) = (server.store, server.journal)
    let recording = center.broadcaster(for: .orderPlaced) { $0.userInfo?["order"] as? String }
      .subscribe(.bufferingOldest(1_000)) { order in
        do { _ = try await store.send(.placed(order), in: journal) } catch { log("\(error)") }
      }

    for order in ["tea", "rice"] {
      center.post(name: .orderPlaced, object: nil, userInfo: ["order": order])
    }
    await recording.drained()

    #expect(store.state == ["tea", "rice"] && recording.droppedCount == 0)
    #expect(journal.lastNumber == 2)
  }
}
