internal import MiniRex

extension GraphLayout {
  /// Returns the picture as SVG, with a class for each kind of node.
  ///
  /// The style sheet of the page has the colors. Nodes and edges have IDs, so that the page can
  /// update their texts.
  func svg(_ drawing: GraphDrawing) -> String {
    let nodes = drawing.nodes.map { node in
      let (center, size) = (centers[node.number] ?? self.size, node.drawnSize)
      let isSource = node.role == .source || node.role == .trace
      // A source has its note on a separate line, a subscription has it after the name.
      let note = "class=\"note\""
      var texts = [
        "class=\"name\">\(escaped(node.shownName))"
          + (isSource ? "" : "<tspan \(note)> \(escaped(node.note ?? ""))</tspan>")
      ]
      if let place = node.shownPlace { texts.append("class=\"place\">\(escaped(place))") }
      if isSource { texts.append("\(note)>\(escaped(node.note ?? ""))") }
      let top = center.y - 7.5 * Double(texts.count - 1) + 4
      let written = texts.enumerated().map { line, text in
        "<text x=\"\(short(center.x))\" y=\"\(short(top + 15 * Double(line)))\" \(text)</text>"
      }
      return """
        <g id="n\(node.number)" class="node \(node.role)"><title>\(escaped(node.name))</title>\
        <rect x="\(short(center.x - size.x / 2))" y="\(short(center.y - size.y / 2))" \
        width="\(short(size.x))" height="\(short(size.y))" rx="\(short(node.corner))"/>\
        \(written.joined())</g>
        """
    }
    let edges = drawing.edges.enumerated().compactMap { index, edge -> String? in
      guard let curve = curves[index], let first = curve.first else { return nil }
      let rest = curve.dropFirst().map(\.text).joined(separator: " ")
      let label = labels[index].map {
        "<text x=\"\(short($0.x))\" y=\"\(short($0.y + 1))\">\(escaped(edge.label))</text>"
      }
      return """
        <g id="e\(index)" class="edge\(edge.isActive ? "" : " idle")">\
        <path d="M\(first.text) C\(rest)" marker-end="url(#tip)"/>\(label ?? "")</g>
        """
    }
    let (width, height) = (short(size.x + 16), short(size.y + 16))
    return """
      <svg xmlns="http://www.w3.org/2000/svg" width="\(width)" height="\(height)" \
      viewBox="-8 -8 \(width) \(height)"><defs><marker id="tip" viewBox="0 0 10 8" refX="0" refY="4" \
      markerWidth="10" markerHeight="8" markerUnits="userSpaceOnUse" orient="auto">\
      <path d="M0 0 L10 4 L0 8 z"/></marker></defs>\(edges.joined())\(nodes.joined())</svg>
      """
  }
}

extension GraphLayout.Point {
  fileprivate var text: String { "\(short(x)),\(short(y))" }
}

extension GraphDrawing.Node {
  /// Sources are round, operators have rounded corners.
  fileprivate var corner: Double {
    switch role {
    case .source: drawnSize.y / 2
    case .operation: 8
    case .trace, .subscription: 2
    }
  }
}

private func short(_ number: Double) -> String { "\((number * 10).rounded() / 10)" }

private func escaped(_ text: String) -> String { GraphDrawing.escaped(text) }
