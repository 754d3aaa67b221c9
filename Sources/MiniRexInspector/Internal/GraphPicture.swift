internal import Foundation
internal import MiniRex

/// The graph as pages have it: a picture that is laid out anew when nodes or edges come and go, and the
/// numbers on it, which change all the time.
///
/// Used on the queue of the inspector alone.
final class GraphPicture: Sendable {
  /// What is told of the graph.
  struct Told: Sendable, Encodable, Equatable {
    /// The text in any case, for those who do not see the picture.
    var tree = ""
    /// The picture; `nil` if it is the one before, or there is none.
    var svg: String?
    /// True if there is a picture; the tree is shown otherwise.
    var isDrawn = false
    /// Of each edge, in the order of its id: the numbers, and whether anything flows.
    var edges: [Edge] = []
    /// Of each node, in the order of its id: what stands under the name.
    var notes: [String] = []

    struct Edge: Sendable, Encodable, Equatable {
      let label: String
      let isActive: Bool
    }
  }

  /// What has to be laid out anew when it changes.
  private struct Shape: Hashable, Sendable {
    struct Node: Hashable { let role: LiveGraph.Role, name: String, place: String? }

    let nodes: [Node]
    let edges: [[Int]]

    init(_ drawing: GraphDrawing) {
      nodes = drawing.nodes.map { Node(role: $0.role, name: $0.name, place: $0.place) }
      edges = drawing.edges.map { [$0.from, $0.to] }
    }
  }

  private struct State: Sendable {
    /// The graph as it was at the last look, and when that was.
    var seen: (drawing: GraphDrawing, tree: String, at: ContinuousClock.Instant)?
    var shape: Shape?
    var svg: String?
    var isLayingOut = false
    var process: Subscription?
    /// A shape that could not be laid out is not tried again.
    var failed: Shape?
  }

  private let graph: LiveGraph
  private let settings: Settings
  private let state = Lock(State())

  init(of graph: LiveGraph, _ settings: Settings) {
    self.graph = graph
    self.settings = settings
  }

  /// What there is now, with the picture as far as it is laid out.
  func look() -> Told {
    let (drawing, tree) = see()
    var told = Told(tree: tree)
    let shape = Shape(drawing)
    let (svg, drawnShape) = state.withLock { ($0.svg, $0.shape) }
    (told.svg, told.isDrawn) = (svg, svg != nil)
    if drawnShape == shape {
      told.edges = drawing.edges.map { Told.Edge(label: $0.label, isActive: $0.isActive) }
      told.notes = drawing.nodes.map { $0.note ?? "" }
    } else {
      layOut(drawing, shape)
    }
    return told
  }

  /// Rates over a quarter of a second would be those of single updates.
  private func see() -> (GraphDrawing, String) {
    let now = ContinuousClock.now
    if let seen = state.withLock({ $0.seen }), now - seen.at < settings.rates {
      return (seen.drawing, seen.tree)
    }
    let snapshot = graph.snapshot()
    let (drawing, tree) = (GraphDrawing(snapshot), snapshot.tree())
    state.withLock { $0.seen = (drawing, tree, now) }
    return (drawing, tree)
  }

  func end() {
    let process = state.withLock { state in
      defer { state = State() }
      return state.process
    }
    process?.invalidate()
  }

  private func layOut(_ drawing: GraphDrawing, _ shape: Shape) {
    guard let graphviz = settings.graphviz, drawing.nodes.count <= settings.nodes else {
      return take(nil, shape)
    }
    let begins = state.withLock { state in
      if state.isLayingOut || state.failed == shape { return false }
      state.isLayingOut = true
      return true
    }
    if !begins { return }
    let process = GraphLayout.lay(out: drawing, graphviz) { [weak self] layout in
      self?.take(layout?.svg(drawing), shape)
    }
    let old = state.withLock { state in
      defer { state.process = process }
      return state.process
    }
    old?.invalidate()
  }

  private func take(_ svg: String?, _ shape: Shape) {
    state.withLock { state in
      state.isLayingOut = false
      (state.svg, state.shape) = (svg, svg == nil ? nil : shape)
      if svg == nil { state.failed = shape }
    }
  }
}
