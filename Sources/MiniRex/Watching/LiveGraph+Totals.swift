internal import Synchronization

extension LiveGraph {
  /// The sums for all sources with one name and place.
  package struct Totals: Sendable {
    package struct Key: Hashable, Sendable {
      package let role: Role
      package let name: String
      package let place: CodePlace?
    }

    package let key: Key
    /// The number of sources that have not finished.
    package fileprivate(set) var nodeCount = 0
    package fileprivate(set) var subscriberCount = 0
    /// The number of updates that are queued for the delivering thread.
    package fileprivate(set) var pendingUpdates = 0
    /// The number of updates that are queued for loops, queues, and actors.
    package fileprivate(set) var bufferedUpdates = 0
    /// The number of deliveries, which never decreases while a source with the key exists.
    package fileprivate(set) var deliveryCount = 0
    package fileprivate(set) var droppedCount = 0
  }

  /// Returns the totals of the sources, traces, and joining operators that have not finished.
  ///
  /// In contrast to a snapshot, this does not restart the measurement of rates. O(nodes). It never
  /// blocks a delivery.
  package func totals() -> [Totals] {
    let (nodes, retired) = nodesAndRetired
    var totals: [Totals.Key: Totals] = [:]
    for (_, counts) in nodes {
      guard let counts else { continue }
      var sum = totals[counts.key] ?? Totals(key: counts.key)
      sum.deliveryCount += counts.deliveries.load(ordering: .relaxed)
      sum.droppedCount += counts.drops.load(ordering: .relaxed)
      totals[counts.key] = sum
    }
    for case (let lineage?, _) in nodes {
      if let key = lineage.counts?.key, lineage.isPresent {
        totals[key]?.nodeCount += 1
        totals[key]?.subscriberCount += lineage.presentSubscriberCount
        totals[key]?.pendingUpdates += lineage.undeliveredCount
      }
      let buffered = lineage.bufferedCounts.pending
      if buffered > 0, let key = lineage.inputs.first?.origin.counts?.key {
        totals[key]?.bufferedUpdates += buffered
      }
    }
    return totals.values.filter { $0.nodeCount > 0 }.map { sum in
      var sum = sum
      let old = retired.counts[sum.key] ?? (0, 0)
      sum.deliveryCount += old.deliveries
      sum.droppedCount += old.drops
      return sum
    }
  }
}

extension Lineage {
  /// A Boolean value that indicates whether the source has not finished, or has a subscriber.
  fileprivate var isPresent: Bool {
    if subscriberCount.load(ordering: .relaxed) > 0 { return true }
    if role == .source { return !hasEnded }
    return computed != nil || inputs.isEmpty || inputs.contains { $0.isPresent }
  }
}
