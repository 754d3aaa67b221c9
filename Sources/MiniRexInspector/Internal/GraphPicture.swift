internal import Foundation
internal import MiniRex

/// The graph as pages show it: a picture, and the numbers in it.
///
/// Graphviz lays the picture out again only when nodes or edges change. Used on the inspector's
/// queue alone.
final class GraphPicture: Sendable {
  /// The graph in an event of a page.
  struct Contents: Sendable, Encodable, Equatable {
    /// The graph as text, for readers who cannot see the picture.
    var tree = ""
    /// The picture, or `nil` if there is no picture or the page already has it.
    var svg: String?
    /// A Boolean value that indicates whether the page shows a picture instead of the text.
    var isDrawn = false
    /// The labels of the edges, in the order of their IDs.
    var edges: [Edge] = []
    /// The notes under the names of the nodes, in the order of their IDs.
    var notes: [String] = []

    struct Edge: Sendable, Encodable, Equatable {
      let label: String
      let isActive: Bool
    }
  }

  /// The part of a drawing that determines its layout.
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
    /// The last drawing, and the time of its snapshot.
    var seen: (drawing: GraphDrawing, tree: String, at: ContinuousClock.Instant)?
    var shape: Shape?
    var svg: String?
    var isLayingOut = false
    var process: Subscription?
    /// The shape whose layout failed, which is not tried again.
    var failed: Shape?
  }

  private let graph: LiveGraph
  private let settings: Settings
  private let state = Lock(State())

  init(of graph: LiveGraph, _ settings: Settings) {
    self.graph = graph
    self.settings = settings
  }

  /// Returns the current graph, with its picture once the layout is finished.
  func look() -> Contents {
    let (drawing, tree) = see()
    var contents = Contents(tree: tree)
    let shape = Shape(drawing)
    let (svg, drawnShape) = state.withLock { ($0.svg, $0.shape) }
    (contents.svg, contents.isDrawn) = (svg, svg != nil)
    if drawnShape == shape {
      contents.edges = drawing.edges.map { Contents.Edge(label: $0.label, isActive: $0.isActive) }
      contents.notes = drawing.nodes.map { $0.note ?? "" }
    } else {
      layOut(drawing, shape)
    }
    return contents
  }

  /// Takes a snapshot at most once per `rates`.
  ///
  /// Shorter intervals would measure single updates.
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
