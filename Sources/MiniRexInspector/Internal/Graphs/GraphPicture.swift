internal import Foundation
internal import MiniRex

/// The graph as pages show it: nodes and edges, and the numbers in them.
///
/// A page draws it. Thread-safe.
final class GraphPicture: Sendable {
  /// The graph in an event of a page.
  struct Contents: Sendable, Encodable, Equatable {
    /// The graph as text, for readers who cannot see the picture.
    var tree = ""
    /// The nodes and edges, or `nil` if the page already has them or there are too many.
    var shape: GraphShape?
    /// A Boolean value that indicates whether the page draws the graph instead of the text.
    var isDrawn = false
    /// The numbers of the nodes, in the order of the shape.
    var nodes: [GraphNodeNumbers] = []
    /// The numbers of the edges, in the order of the shape.
    var edges: [GraphEdgeNumbers] = []
  }

  private struct State: Sendable {
    var contents: Contents?
    var snapshot: LiveGraph.Snapshot?
    var time: ContinuousClock.Instant?
  }

  private let graph: LiveGraph
  private let settings: Settings
  private let state = Lock(State())

  init(of graph: LiveGraph, _ settings: Settings) {
    self.graph = graph
    self.settings = settings
  }

  /// Returns the current graph.
  ///
  /// Takes a snapshot at most once per `rates`. Shorter intervals would measure single updates.
  func look() -> Contents {
    let now = ContinuousClock.now
    let (last, time, old) = state.withLock { ($0.contents, $0.time, $0.snapshot) }
    if let last, let time, now - time < settings.rates { return last }
    let snapshot = graph.snapshot()
    let contents = contents(snapshot, after: old)
    state.withLock { $0 = State(contents: contents, snapshot: snapshot, time: now) }
    return contents
  }

  func end() {
    state.withLock { $0 = State() }
  }

  private func contents(
    _ snapshot: LiveGraph.Snapshot, after old: LiveGraph.Snapshot?
  ) -> Contents {
    var contents = Contents(tree: snapshot.tree())
    let crowds = GraphCrowds(snapshot, largest: settings.crowd)
    if crowds.nodes.count > settings.nodes { return contents }
    contents.isDrawn = true
    contents.shape = GraphShape(crowds)
    let health = old.map { GraphHealth(snapshot, after: $0) }
    contents.nodes = crowds.nodes.map { node in
      let members = crowds.members[node.id] ?? [node.id]
      let state = members.compactMap { health?.states[$0] }.max() ?? .fine
      return GraphNodeNumbers(node, state)
    }
    contents.edges = crowds.edges.map { GraphEdgeNumbers($0.edges) }
    return contents
  }
}

/// The nodes and edges of a graph without their numbers.
struct GraphShape: Sendable, Encodable, Equatable {
  struct Node: Sendable, Encodable, Equatable {
    let id: Int
    let role: String
    let name: String
    let place: String?
    /// The number of equal subscriptions that the node represents.
    let count: Int
  }

  private(set) var nodes: [Node]
  /// The indices of the nodes at the ends of each edge.
  private(set) var edges: [[Int]]

  init(_ crowds: GraphCrowds) {
    nodes = crowds.nodes.map { node in
      Node(
        id: node.id, role: "\(node.role)", name: shortened(node.name, to: 500),
        place: node.place.map { shortened("\($0)", to: 500) },
        count: crowds.members[node.id]?.count ?? 1)
    }
    edges = crowds.edges.map { [$0.from, $0.to] }
  }
}

/// The numbers of a node.
struct GraphNodeNumbers: Sendable, Encodable, Equatable {
  let subscribers: Int?
  let pending: Int
  let runs: Int?
  /// The total duration of the runs in seconds.
  let time: Double?
  let loads: Int?
  let failures: Int?
  /// The age of the value of a resource in seconds.
  let age: Double?
  let state: GraphHealth.State

  init(_ node: LiveGraph.Node, _ state: GraphHealth.State) {
    subscribers = node.subscriberCount
    pending = node.pendingUpdates
    runs = node.runCount
    time = node.runTime.map { $0 / .seconds(1) }
    loads = node.loadCount
    failures = node.failureCount
    age = node.age.map { ($0 / .seconds(1)).rounded() }
    self.state = state
  }
}

/// The numbers of an edge, or the sums over several.
struct GraphEdgeNumbers: Sendable, Encodable, Equatable {
  let isActive: Bool
  let count: Int?
  let rate: Double
  let pending: Int
  let dropped: Int

  init(_ edges: [LiveGraph.Edge]) {
    isActive = edges.contains(where: \.isActive)
    let counts = edges.compactMap(\.updateCount)
    count = counts.isEmpty ? nil : counts.reduce(0, +)
    rate = edges.reduce(0) { $0 + ($1.updatesPerSecond ?? 0) }.rounded(to: 10)
    pending = edges.reduce(0) { $0 + $1.pendingUpdates }
    dropped = edges.reduce(0) { $0 + $1.droppedUpdates }
  }
}
