extension LiveGraph.Snapshot {
  /// Returns the snapshot in the language of Graphviz.
  ///
  /// `dot -Tsvg` draws it from left to right.
  ///
  /// Sources are ellipses, operators have rounded corners, traces are notes, and subscriptions are
  /// boxes. The second line of a node is its place in the source. An edge shows its number of
  /// updates where they are counted. It also shows its rate per second and its queued updates, unless
  /// they are 0. It is dashed, without numbers, if no subscription uses it. Subscriptions of one line
  /// of code to one publisher are one box.
  public func dot() -> String {
    let drawing = GraphDrawing(self)
    let nodes = drawing.nodes.map { node in
      "  n\(node.number) [\(style(of: node.role)), label=<\(node.label(small, escaping: "&"))>]"
    }
    let edges = drawing.edges.map { edge in
      let label = edge.label.isEmpty ? "" : " [label=\"\(edge.label)\"]"
      return "  n\(edge.from) -> n\(edge.to)\(edge.isActive ? label : idle)"
    }
    return (head + nodes + edges + ["}", ""]).joined(separator: "\n")
  }
}

private let small = ("<font point-size=\"9\" color=\"#888888\">", "</font>")

private let idle = " [style=dashed, color=\"#bbbbbb\"]"

private let head = [
  "digraph MiniRex {",
  "  rankdir=LR",
  "  node [fontname=\"Helvetica\", fontsize=12, color=\"#555555\"]",
  "  edge [fontname=\"Helvetica\", fontsize=10, color=\"#555555\", fontcolor=\"#555555\"]",
]

private func style(of role: LiveGraph.Role) -> String {
  switch role {
  case .source: "shape=ellipse, style=filled, fillcolor=\"#d6e8ff\""
  case .operation: "shape=box, style=\"rounded,filled\", fillcolor=\"#ffffff\""
  case .trace: "shape=note, style=filled, fillcolor=\"#fff3c4\""
  case .subscription: "shape=box, style=filled, fillcolor=\"#dcf3dc\""
  }
}
