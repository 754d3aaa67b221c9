internal import Synchronization

extension LiveGraph {
  /// The counts of a subscription.
  package struct Load: Sendable {
    package let id: Int
    /// The name of the source, trace, or joining operator upstream, or of the form of `subscribe`.
    package let name: String
    package let place: CodePlace?
    /// The number of updates, which never decreases.
    package let updateCount: Int
    /// The number of updates that are queued for the subscriber.
    package let pendingUpdates: Int
    package let droppedUpdates: Int

    package init(
      id: Int, name: String, place: CodePlace?, updateCount: Int, pendingUpdates: Int,
      droppedUpdates: Int
    ) {
      (self.id, self.name, self.place) = (id, name, place)
      (self.updateCount, self.pendingUpdates) = (updateCount, pendingUpdates)
      self.droppedUpdates = droppedUpdates
    }
  }

  /// Returns the counts of the subscriptions, oldest first.
  ///
  /// In contrast to a snapshot, this does not restart the measurement of rates. O(nodes). It never
  /// blocks a delivery.
  package func loads() -> [Load] {
    lineages.filter { $0.role == .subscription }.map { lineage in
      let buffered = lineage.buffersUpstream
      let edges = lineage.edges.withLock { $0.values.map(\.edge) }
      return Load(
        id: lineage.id, name: lineage.inputs.first?.origin.name ?? lineage.name,
        place: lineage.place,
        updateCount: edges.reduce(0) { $0 + $1.updateCount.load(ordering: .relaxed) },
        pendingUpdates: buffered.pending, droppedUpdates: buffered.dropped)
    }
  }
}

extension Lineage {
  /// The counts of the buffers from here up to the next source, trace, or join.
  fileprivate var buffersUpstream: BufferCounts {
    let own = bufferedCounts
    guard let input = inputs.first, inputs.count == 1 else { return own }
    // The queue of a source delays all its subscribers.
    if input.reports {
      return own + BufferCounts(pending: input.undeliveredCount, dropped: 0)
    }
    return own + input.buffersUpstream
  }
}
