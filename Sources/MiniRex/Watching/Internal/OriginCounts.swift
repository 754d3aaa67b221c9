internal import Synchronization

/// The counts of one source, trace, or joining operator of a graph.
///
/// A graph retains them until it has added them to the totals of their key, so a total never
/// decreases.
final class OriginCounts: Sendable {
  let key: LiveGraph.Totals.Key
  let deliveries = Atomic(0)
  let drops = Atomic(0)
  /// The failed effects of a store.
  let failures = Atomic(0)

  init(_ key: LiveGraph.Totals.Key) { self.key = key }
}

/// The counts of nodes that are deallocated.
struct RetiredCounts: Sendable {
  typealias Counts = (deliveries: Int, drops: Int)

  private(set) var counts: [LiveGraph.Totals.Key: Counts] = [:]
  private var limit = 1_000

  /// Adds the counts of a node.
  ///
  /// - Parameter present: The keys of the other nodes. The counts of further keys are removed if
  ///   there are too many.
  mutating func add(_ node: OriginCounts, present: () -> Set<LiveGraph.Totals.Key>) {
    let new = (
      node.deliveries.load(ordering: .relaxed), node.drops.load(ordering: .relaxed)
    )
    if new == (0, 0) { return }
    let old = counts[node.key] ?? (0, 0)
    counts[node.key] = (old.deliveries + new.0, old.drops + new.1)
    if counts.count <= limit { return }
    let present = present()
    counts = counts.filter { present.contains($0.key) }
    limit = max(1_000, 2 * counts.count)
  }
}
