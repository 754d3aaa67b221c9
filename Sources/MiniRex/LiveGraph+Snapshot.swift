internal import Synchronization

extension LiveGraph {
  /// Takes a picture, and begins to measure the rates of the next one.
  ///
  /// Counts are exact when nothing is being delivered. It costs time for each node, during which
  /// nothing waits.
  public func snapshot() -> Snapshot {
    let now = now()
    let lineages = lineages
    var edges: [Edge] = []
    var isShown: Set<Int> = []
    // Inputs are older than what is made of them, so they have been decided on.
    for lineage in lineages {
      let own = lineage.drawEdges(at: now)
      edges += own
      if lineage.isAlive(own, isShown) { isShown.insert(lineage.id) }
    }
    return Snapshot(
      nodes: lineages.filter { isShown.contains($0.id) }.map { lineage in
        Node(
          id: lineage.id, role: lineage.role, name: lineage.name, place: lineage.place,
          subscriberCount: lineage.subscriberCount.load(ordering: .relaxed))
      },
      edges: edges.filter { isShown.contains($0.from) && isShown.contains($0.to) })
  }

  /// Takes a picture, and tells it in the language of Graphviz.
  public func dot() -> String { snapshot().dot() }

  /// Takes a picture, and tells it in the language of Mermaid.
  public func mermaid() -> String { snapshot().mermaid() }

  /// Takes a picture, and tells it as an indented text.
  public func tree() -> String { snapshot().tree() }
}

extension LineageEdgeRecord {
  fileprivate mutating func draw(to consumer: Int, at now: Duration) -> LiveGraph.Edge {
    let count = edge.updateCount.load(ordering: .relaxed)
    let seconds = (now - drawnAt) / .seconds(1)
    let rate = seconds > 0 ? Double(count - drawnCount) / seconds : 0
    (drawnCount, drawnAt) = (count, now)
    return LiveGraph.Edge(
      from: edge.input.id, to: consumer, subscriptionCount: subscriptionCount, updateCount: count,
      updatesPerSecond: rate)
  }
}

extension Lineage {
  /// Sources that have ended are not alive, nor are operators of nothing else.
  fileprivate func isAlive(_ edges: [LiveGraph.Edge], _ isShown: Set<Int>) -> Bool {
    switch role {
    case .subscription: edges.contains { $0.subscriptionCount > 0 }
    case .source: !hasEnded || subscriberCount.load(ordering: .relaxed) > 0
    case .operation, .trace:
      subscriberCount.load(ordering: .relaxed) > 0
        || inputs.contains { isShown.contains($0.id) } || inputs.isEmpty
    }
  }

  fileprivate func drawEdges(at now: Duration) -> [LiveGraph.Edge] {
    let drawn = edges.withLock { edges in
      var drawn: [LiveGraph.Edge] = []
      for id in edges.keys {
        if let edge = edges[id]?.draw(to: self.id, at: now) { drawn.append(edge) }
      }
      return drawn
    }
    let idle = Set(inputs.map(\.id)).subtracting(drawn.map(\.from)).map { id in
      LiveGraph.Edge(
        from: id, to: self.id, subscriptionCount: 0, updateCount: 0, updatesPerSecond: 0)
    }
    return (drawn + idle).sorted { $0.from < $1.from }
  }
}
