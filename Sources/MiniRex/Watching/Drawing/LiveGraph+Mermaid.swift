extension LiveGraph.Snapshot {
  /// Returns the snapshot in the language of Mermaid, which many Markdown viewers draw.
  ///
  /// It contains the same nodes and edges as ``dot()``.
  public func mermaid() -> String {
    let drawing = GraphDrawing(self)
    let nodes = drawing.nodes.map { node in
      let (opening, closing) = brackets(of: node.role)
      let label = node.label(("<small>", "</small>"), escaping: "#")
      return "  n\(node.number)\(opening)\"\(label)\"\(closing)"
    }
    let edges = drawing.edges.map { edge in
      let label = edge.label.isEmpty ? "" : "|\"\(edge.label)\"|"
      let arrow = edge.isActive ? "-->\(label)" : "-.->"
      return "  n\(edge.from) \(arrow) n\(edge.to)"
    }
    return (["flowchart LR"] + nodes + edges + [""]).joined(separator: "\n")
  }
}

private func brackets(of role: LiveGraph.Role) -> (String, String) {
  switch role {
  case .source: ("([", "])")
  case .operation: ("(", ")")
  case .trace: (">", "]")
  case .subscription: ("[", "]")
  }
}
