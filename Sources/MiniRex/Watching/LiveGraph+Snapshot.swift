internal import Synchronization

extension LiveGraph {
  /// Returns a snapshot, and starts the measurement of the next rates.
  ///
  /// Counts are exact while no update is being delivered. O(nodes). It never blocks a delivery.
  public func snapshot() -> Snapshot {
    let now = now()
    let lineages = lineages
    var edges: [Edge] = []
    var isActive: Set<Int> = []
    for lineage in lineages
    where lineage.computed != nil && lineage.subscriberCount.load(ordering: .relaxed) > 0 {
      isActive.insert(lineage.id)
      lineage.activateInputs(&isActive)
    }
    // Derived publishers are newer than their inputs, so they are already decided.
    for lineage in lineages.reversed() {
      if lineage.subscriberCount.load(ordering: .relaxed) > 0 { isActive.insert(lineage.id) }
      let own = lineage.drawEdges(at: now, isActive: isActive.contains(lineage.id))
      for edge in own where edge.isActive { isActive.formUnion([edge.from, edge.to]) }
      edges = own + edges
    }
    var isShown: Set<Int> = []
    for lineage in lineages where lineage.isShown(isActive, isShown) { isShown.insert(lineage.id) }
    return Snapshot(
      nodes: lineages.filter { isShown.contains($0.id) }.map(\.node),
      edges: edges.filter { isShown.contains($0.from) && isShown.contains($0.to) })
  }

  /// Takes a snapshot, and returns it in the language of Graphviz.
  public func dot() -> String { snapshot().dot() }

  /// Takes a snapshot, and returns it in the language of Mermaid.
  public func mermaid() -> String { snapshot().mermaid() }

  /// Takes a snapshot, and returns it as indented text.
  public func tree() -> String { snapshot().tree() }
}

extension Lineage {
  fileprivate var node: LiveGraph.Node {
    LiveGraph.Node(
      id: id, role: role, name: name, place: place,
      subscriberCount: reports ? presentSubscriberCount : nil,
      pendingUpdates: undeliveredCount, runCount: computed?.runs.count,
      runTime: computed?.runs.time, loadCount: resource?.loadCount,
      failureCount: resource?.failureCount ?? failedEffectCount, age: resource?.age)
  }

  private var failedEffectCount: Int? {
    guard let count = counts?.failures.load(ordering: .relaxed), count > 0 else { return nil }
    return count
  }

  /// Adds the inputs of an active computed value, which may be newer than it.
  fileprivate func activateInputs(_ isActive: inout Set<Int>) {
    for input in inputs where isActive.insert(input.id).inserted {
      input.activateInputs(&isActive)
    }
  }

  /// Returns `false` for an ended subscription, a finished source, and an operator without a shown
  /// input.
  fileprivate func isShown(_ isActive: Set<Int>, _ isShown: Set<Int>) -> Bool {
    if isActive.contains(id) { return true }
    switch role {
    case .subscription: return false
    case .source: return !hasEnded
    case .operation: return inputs.contains { isShown.contains($0.id) }
    case .trace: return inputs.isEmpty || inputs.contains { isShown.contains($0.id) }
    }
  }

  fileprivate func drawEdges(at now: Duration, isActive: Bool) -> [LiveGraph.Edge] {
    let (buffered, stall) = (bufferedCounts, stall)
    let counted = edges.withLock { edges in
      var drawn: [LiveGraph.Edge] = []
      for id in edges.keys {
        if let edge = edges[id]?.draw(to: self.id, at: now, buffered, stall) { drawn.append(edge) }
      }
      return drawn
    }
    let others = Set(inputs.map(\.id)).subtracting(counted.map(\.from)).map { id in
      LiveGraph.Edge(
        from: id, to: self.id, isActive: isActive, updateCount: nil, updatesPerSecond: nil,
        pendingUpdates: buffered.pending, stall: stall, droppedUpdates: buffered.dropped)
    }
    return (counted + others).sorted { $0.from < $1.from }
  }
}

extension LineageEdgeRecord {
  fileprivate mutating func draw(
    to consumer: Int, at now: Duration, _ buffered: BufferCounts, _ stall: Duration?
  ) -> LiveGraph.Edge {
    let begun = edge.beginCount.load(ordering: .relaxed)
    let count = edge.updateCount.load(ordering: .relaxed)
    let seconds = (now - drawnAt) / .seconds(1)
    let rate = seconds > 0 ? Double(count - drawnCount) / seconds : 0
    (drawnCount, drawnAt) = (count, now)
    return LiveGraph.Edge(
      from: edge.input.id, to: consumer, isActive: subscriptionCount > 0, updateCount: count,
      updatesPerSecond: rate, pendingUpdates: buffered.pending, stall: stall,
      droppedUpdates: buffered.dropped, callsInProgress: max(0, begun - count))
  }
}
