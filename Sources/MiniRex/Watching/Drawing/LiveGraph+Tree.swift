extension LiveGraph.Snapshot {
  /// Returns the snapshot as indented text, with the downstream nodes below each source.
  ///
  /// ```text
  /// numbers, Sums/main.swift:4, 2 subscribers
  /// ├─ 12 → subscribe, Sums/main.swift:9
  /// └─ 12, 3.0/s → map
  ///    └─ 12, 3.0/s → subscribe, Sums/main.swift:7
  /// ```
  ///
  /// The number before an arrow is the number of updates, where it is counted. The arrow is dashed
  /// without a subscription. A node with several upstream nodes is written out once.
  public func tree() -> String {
    var tree = GraphTree(GraphDrawing(self))
    return tree.text()
  }
}

private struct GraphTree {
  private let nodes: [GraphDrawing.Node]
  private let edgesFrom: [Int: [GraphDrawing.Edge]]
  private let roots: [GraphDrawing.Node]
  private var written: Set<Int> = []
  private var lines: [String] = []

  init(_ drawing: GraphDrawing) {
    nodes = drawing.nodes
    edgesFrom = Dictionary(grouping: drawing.edges, by: \.from)
    let targets = Set(drawing.edges.map(\.to))
    roots = drawing.nodes.filter { !targets.contains($0.number) }
  }

  mutating func text() -> String {
    // A cycle without an entry has no root. It starts with its oldest node.
    for node in roots + nodes where !written.contains(node.number) {
      lines.append(describe(node))
      writeBranches(of: node, indentation: "")
    }
    return lines.map { $0 + "\n" }.joined()
  }

  private mutating func writeBranches(of node: GraphDrawing.Node, indentation: String) {
    written.insert(node.number)
    let edges = edgesFrom[node.number] ?? []
    for (index, edge) in edges.enumerated() {
      let isLast = index == edges.count - 1
      let arrow = edge.isActive ? (edge.label.isEmpty ? "→ " : "\(edge.label) → ") : "⇢ "
      let target = nodes[edge.to - 1]
      let isWritten = written.contains(target.number)
      let line =
        describe(target) + (isWritten && edgesFrom[target.number] != nil ? ", see above" : "")
      lines.append(indentation + (isLast ? "└─ " : "├─ ") + arrow + line)
      if !isWritten {
        writeBranches(of: target, indentation: indentation + (isLast ? "   " : "│  "))
      }
    }
  }

  private func describe(_ node: GraphDrawing.Node) -> String {
    let text = [node.name, node.place, node.note].compactMap { $0 }.joined(separator: ", ")
    // A name of several lines would look like several nodes.
    return String(text.map { $0.isNewline ? " " : $0 })
  }
}
