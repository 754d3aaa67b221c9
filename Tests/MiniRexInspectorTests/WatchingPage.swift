import Foundation
import TestSupport

/// A page without a screen: it listens, and has what it was told.
final class WatchingPage: Sendable {
  struct Change: Decodable, Sendable, Equatable {
    let path: String
    var old: String?
    var new: String?
  }

  struct Commit: Decodable, Sendable {
    let previous: Int
    let number: Int
    let cause: String
    let changeCount: Int
    let changes: [Change]
    let failure: String?
  }

  struct Counts: Decodable, Sendable {
    let effects: Int
    let subscribers: Int
    let waiting: Int
  }

  struct StoreTold: Decodable, Sendable {
    let id: Int
    let name: String
    let counts: Counts?
    let number: Int
    let first: Int
    var commits: [Commit]
  }

  struct Edge: Decodable, Sendable {
    let label: String
    let isActive: Bool
  }

  struct Graph: Decodable, Sendable {
    let tree: String
    var svg: String?
    let isDrawn: Bool
    let edges: [Edge]
    let notes: [String]
  }

  fileprivate struct News: Decodable {
    let graph: Graph?
    let stores: [StoreTold]
  }

  fileprivate struct State: Sendable {
    var browser: Browser
    var graph: Graph?
    var stores: [Int: StoreTold] = [:]
    var hasEnded = false
  }

  private let state: Shared<State>

  /// - Parameter comesBack: Whether it does so when it is let go, as a browser does.
  init(_ port: UInt16, _ query: String = "", comesBack: Bool = false) throws {
    let state = Shared(State(browser: try Browser(port)))
    self.state = state
    onNewThread {
      repeat {
        let browser = state.value.browser
        browser.say("GET /events\(query) HTTP/1.1\r\n\r\n")
        var rest = Data()
        while let more = browser.hear() {
          rest += more
          while let end = rest.range(of: Data("\n\n".utf8)) {
            let event = String(decoding: rest[..<end.lowerBound], as: UTF8.self)
            rest.removeSubrange(..<end.upperBound)
            state.change { $0.take(event.components(separatedBy: "\n")) }
          }
        }
        guard comesBack, let next = try? Browser(port) else { break }
        state.change { $0.browser = next }
      } while true
      state.change { $0.hasEnded = true }
    }
  }

  var graph: Graph? { state.value.graph }

  func store(_ id: Int = 0) -> StoreTold? { state.value.stores[id] }

  var commits: [Commit] { store()?.commits ?? [] }

  var hasEnded: Bool { state.value.hasEnded }

  func leave() { state.value.browser.leave() }
}

extension WatchingPage.State {
  fileprivate mutating func take(_ lines: [String]) {
    guard let line = lines.first(where: { $0.hasPrefix("data: ") }),
      let news = try? JSONDecoder().decode(
        WatchingPage.News.self, from: Data(line.dropFirst(6).utf8))
    else { return }
    if lines.contains("event: all") { stores = [:] }
    if var graph = news.graph {
      if graph.isDrawn { graph.svg = graph.svg ?? self.graph?.svg }
      self.graph = graph
    }
    for var store in news.stores {
      let known = stores[store.id]?.commits ?? []
      store.commits = known.filter { $0.number >= store.first } + store.commits
      stores[store.id] = store
    }
  }
}

/// A commit on its own, as `GET` answers.
struct CommitAnswer: Decodable {
  struct Value: Decodable {
    let path: String
    let value: String
  }

  let changes: [WatchingPage.Change]
  let state: [Value]

  var values: [String: String] {
    Dictionary(uniqueKeysWithValues: state.map { ($0.path, $0.value) })
  }
}

func ask(_ port: UInt16, _ text: String) async throws -> String {
  let browser = try Browser(port)
  browser.say(text)
  return await browser.listen()
}

func get(_ port: UInt16, _ path: String) async throws -> String {
  try await ask(port, "GET \(path) HTTP/1.1\r\n\r\n")
}

func commit(_ number: Int, of store: Int = 0, _ port: UInt16) async throws -> CommitAnswer? {
  let answer = try await get(port, "/stores/\(store)/commits/\(number)")
  guard answer.hasPrefix("HTTP/1.1 200"), let end = answer.range(of: "\r\n\r\n") else { return nil }
  return try JSONDecoder().decode(CommitAnswer.self, from: Data(answer[end.upperBound...].utf8))
}
