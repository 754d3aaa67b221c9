internal import Synchronization

/// What goes from one publisher to one of its consumers, by any number of subscriptions.
final class LineageEdge: Sendable {
  let input: Lineage
  let updateCount = Atomic(0)

  init(from input: Lineage) {
    self.input = input
  }
}

/// An edge as its consumer knows it, under the lock.
struct LineageEdgeRecord: Sendable {
  let edge: LineageEdge
  var subscriptionCount = 0
  /// How many updates there were when a picture was taken last, and when that was.
  var drawnCount = 0
  var drawnAt: Duration
}

extension Lineage {
  /// Counts a subscription of this consumer to a publisher; `nil` if that is none of its inputs.
  func join(_ input: Lineage, adopting adopts: Bool) -> LineageEdge? {
    guard let graph, input.graph === graph, adopts || inputs.contains(where: { $0 === input })
    else { return nil }
    let now = graph.now()
    return edges.withLock { edges in
      var record =
        edges[input.id] ?? LineageEdgeRecord(edge: LineageEdge(from: input), drawnAt: now)
      record.subscriptionCount += 1
      edges[input.id] = record
      return record.edge
    }
  }

  /// An adopted publisher is let go with its last subscription; what an input has told stays counted.
  func leave(_ edge: LineageEdge) {
    let isInput = inputs.contains { $0 === edge.input }
    // The last reference goes after the lock.
    let removed = edges.withLock { edges -> LineageEdgeRecord? in
      edges[edge.input.id]?.subscriptionCount -= 1
      guard !isInput, edges[edge.input.id]?.subscriptionCount == 0 else { return nil }
      return edges.removeValue(forKey: edge.input.id)
    }
    withExtendedLifetime(removed) {}
  }
}
