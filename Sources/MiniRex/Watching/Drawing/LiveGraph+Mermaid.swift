extension LiveGraph.Snapshot {
  /// Returns the snapshot in the language of Mermaid, which many Markdown viewers draw.
  ///
  /// The contents are those of ``dot()``.
  public func mermaid() -> String {
    let drawing = GraphDrawing(self)
    let nodes = drawing.nodes.map { node in
      let (opening, closing) = brackets(of: node.role)
      return "  n\(node.number)\(opening)\"\(label(of: node))\"\(closing)"
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

private func label(of node: GraphDrawing.Node) -> String {
  let small = [node.place, node.note].compactMap { $0 }.map { "<br/><small>\(escaped($0))</small>" }
  return "<b>\(escaped(node.name))</b>" + small.joined()
}

/// Replaces special characters by entities, which begin with `#` in Mermaid.
private func escaped(_ text: String) -> String {
  text.reduce(into: "") { result, character in
    switch character {
    case "#": result += "#35;"
    case "&": result += "#amp;"
    case "<": result += "#lt;"
    case ">": result += "#gt;"
    case "\"": result += "#quot;"
    case _ where character.isNewline: result += " "
    default: result.append(character)
    }
  }
}
