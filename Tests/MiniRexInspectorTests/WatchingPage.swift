import Foundation
import TestSupport
import Testing

/// A page of the inspector that stores the received graph and stores.
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
    let paths: [String]
    let failure: String?
  }

  struct Counts: Decodable, Sendable {
    let effects: Int
    let subscribers: Int
    let pending: Int
  }

  struct StoreTold: Decodable, Sendable {
    let id: Int
    let name: String
    let counts: Counts?
    let effects: [Effect]
    /// The beginnings and ends of effects.
    var spans: [Span]
    var jobs: [Jobs]?
    var scopes: [Scope]?
    let earlierCommits: Int
    let number: Int
    let first: Int
    var commits: [Commit]
  }

  struct Effect: Decodable, Sendable {
    let number: Int
    let name: String?
    let commit: Int
    let start: Double?
    let isCancelled: Bool
  }

  struct Span: Decodable, Sendable, Equatable {
    let number: Int
    let name: String?
    let commit: Int
    let start: Double
    let end: Double?
    let outcome: String?
  }

  struct Jobs: Decodable, Sendable {
    struct Job: Decodable, Sendable {
      let id: String
      let condition: String
      let attempts: Int
      let since: Double
      let notBefore: Double?
      let failure: String?
    }

    let path: String
    let pending: Int
    let waiting: Int
    let running: Int
    let failed: Int
    let jobs: [Job]
  }

  struct Scope: Decodable, Sendable, Equatable {
    let depth: Int
    let path: String
    let count: Int
  }

  struct Shape: Decodable, Sendable, Equatable {
    struct Node: Decodable, Sendable, Equatable {
      let id: Int
      let role: String
      let name: String
      let place: String?
      let count: Int
    }

    let nodes: [Node]
    let edges: [[Int]]
  }

  struct Node: Decodable, Sendable {
    let subscribers: Int?
    let pending: Int
    let loads: Int?
    let failures: Int?
    let age: Double?
    let state: Int
  }

  struct Edge: Decodable, Sendable {
    let isActive: Bool
    let count: Int?
    let rate: Double
    let pending: Int
    let dropped: Int
  }

  struct Graph: Decodable, Sendable {
    let tree: String
    var shape: Shape?
    let isDrawn: Bool
    let nodes: [Node]
    let edges: [Edge]

    /// The numbers of the first node with a name.
    func node(_ name: String) -> Node? {
      shape?.nodes.firstIndex { $0.name == name }.map { nodes[$0] }
    }
  }

  fileprivate struct News: Decodable {
    let graph: Graph?
    let stores: [StoreTold]
  }

  fileprivate struct State: Sendable {
    var client: HTTPClient
    var graph: Graph?
    var stores: [Int: StoreTold] = [:]
    var hasEnded = false
  }

  private let state: Shared<State>

  /// - Parameter reconnects: `true` to connect again after the end, as a browser does.
  init(_ port: UInt16, _ query: String = "", reconnects: Bool = false) throws {
    let state = Shared(State(client: try HTTPClient(port)))
    self.state = state
    onNewThread {
      repeat {
        state.value.client.forEachEvent(at: "/events\(query)") { lines in
          state.change { $0.take(lines) }
        }
        guard reconnects, let next = try? HTTPClient(port) else { break }
        state.change { $0.client = next }
      } while true
      state.change { $0.hasEnded = true }
    }
  }

  var graph: Graph? { state.value.graph }

  func store(_ id: Int = 0) -> StoreTold? { state.value.stores[id] }

  var commits: [Commit] { store()?.commits ?? [] }

  var hasEnded: Bool { state.value.hasEnded }

  func cancel() { state.value.client.cancel() }
}

extension WatchingPage.State {
  fileprivate mutating func take(_ lines: [String]) {
    guard let line = lines.first(where: { $0.hasPrefix("data: ") }),
      let news = try? JSONDecoder().decode(
        WatchingPage.News.self, from: Data(line.dropFirst(6).utf8))
    else { return }
    if lines.contains("event: all") { stores = [:] }
    if var graph = news.graph {
      if graph.isDrawn { graph.shape = graph.shape ?? self.graph?.shape }
      self.graph = graph
    }
    for var store in news.stores {
      let old = stores[store.id]
      store.commits = (old?.commits ?? []).filter { $0.number >= store.first } + store.commits
      let spans = (old?.spans ?? []).filter { span in
        !store.spans.contains { $0.number == span.number }
      }
      store.spans = (spans + store.spans).sorted { $0.number < $1.number }
      store.jobs = store.jobs ?? old?.jobs
      store.scopes = store.scopes ?? old?.scopes
      stores[store.id] = store
    }
  }
}

/// One commit in a response to `GET`.
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

func get(_ port: UInt16, _ path: String) async throws -> String {
  try await response(from: port, to: "GET \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n")
}

func commit(_ number: Int, of store: Int = 0, _ port: UInt16) async throws -> CommitAnswer? {
  let answer = try await get(port, "/stores/\(store)/commits/\(number)")
  guard answer.hasPrefix("HTTP/1.1 200"), let end = answer.range(of: "\r\n\r\n") else { return nil }
  return try JSONDecoder().decode(CommitAnswer.self, from: Data(answer[end.upperBound...].utf8))
}
