internal import Synchronization

/// One subscription on its path through one observed publisher.
///
/// The callback captures it, so releasing the callback reports the end of the subscription.
@usableFromInline
package final class WatchedSubscription: Sendable {
  private let lineage: Lineage
  private let context: WatchContext
  private let consumer: Lineage?
  private let edge: LineageEdge?

  fileprivate init(through lineage: Lineage) {
    self.lineage = lineage
    context = .current ?? WatchContext(nil)
    consumer = context.consumer(of: lineage)
    edge = consumer?.join(lineage)
    lineage.subscriberCount.add(1, ordering: .relaxed)
    if lineage.reports { lineage.record(.subscribed, by: context) }
  }

  deinit {
    lineage.subscriberCount.subtract(1, ordering: .relaxed)
    if let edge { consumer?.leave(edge) }
    if lineage.reports { lineage.record(.unsubscribed, by: context) }
  }

  /// Runs before the callback, so that a graph knows the callbacks in progress.
  @usableFromInline @inline(never)
  func willDeliver() {
    edge?.beginCount.add(1, ordering: .relaxed)
  }

  /// Runs after the callback.
  ///
  /// An instrument that runs before the callback could cancel the subscription, and the callback
  /// would still run.
  @usableFromInline @inline(never)
  func hasDelivered() {
    edge?.updateCount.add(1, ordering: .relaxed)
    lineage.counts?.deliveries.add(1, ordering: .relaxed)
    if lineage.reports { lineage.record(.delivered, by: context) }
  }

  /// The context while the publisher subscribes upstream.
  fileprivate var next: WatchContext {
    WatchContext(lineage, place: context.place, subscription: context.subscription)
  }
}

extension Lineage {
  /// Subscribes to the publisher with this lineage, and counts.
  @usableFromInline
  func pass<Update>(
    _ receive: @escaping @Sendable (Update) -> Void,
    by connect: Connect<Update>
  ) -> Subscription {
    let passage = WatchedSubscription(through: self)
    return passage.next.inForce {
      connect { update in
        passage.willDeliver()
        receive(update)
        passage.hasDelivered()
      }
    }
  }

  /// Prepares the context before `subscribe(_:)` connects.
  ///
  /// The caller exits the scope afterward.
  @usableFromInline @inline(never)
  func enter(
    _ name: String, _ fileID: String, _ line: Int
  ) -> (passage: WatchedSubscription?, scope: WatchScope) {
    let scope = context(of: name, at: CodePlace(fileID: fileID, line: line)).enter()
    guard isCountedByOthers else { return (nil, scope) }
    let passage = WatchedSubscription(through: self)
    return (passage, WatchScope(outer: scope.outer, inner: passage.next.enter().inner))
  }

  /// Returns the context of a form of `subscribe` for the publisher with this lineage.
  func context(of name: String, at place: CodePlace?) -> WatchContext {
    guard let graph else { return WatchContext(nil, place: place) }
    let node = Lineage(
      .subscription, name, at: place, inputs: [self], instrument: instrument, graph: graph)
    return WatchContext(node, place: place, subscription: node.id)
  }

  /// `true` for sources and traces, which report their events to an instrument.
  var reports: Bool { role == .source || role == .trace }

  var isCountedByOthers: Bool { !reports && graph != nil }
}

/// The connection from a publisher to one of its consumers, for any number of subscriptions.
final class LineageEdge: Sendable {
  let input: Lineage
  /// The number of callbacks that have begun.
  let beginCount = Atomic(0)
  let updateCount = Atomic(0)

  init(from input: Lineage) {
    self.input = input
  }
}

/// The record of an edge in its consumer, guarded by the lock.
struct LineageEdgeRecord: Sendable {
  let edge: LineageEdge
  var subscriptionCount = 0
  /// The number of updates at the last snapshot, and its time.
  var drawnCount = 0
  var drawnAt: Duration
}

extension Lineage {
  func takes(_ input: Lineage) -> Bool { inputs.contains { $0 === input } }

  /// Counts a subscription of this consumer to a publisher.
  fileprivate func join(_ input: Lineage) -> LineageEdge? {
    guard let graph else { return nil }
    let now = graph.now()
    return edges.withLock { edges in
      var record =
        edges[input.id] ?? LineageEdgeRecord(edge: LineageEdge(from: input), drawnAt: now)
      record.subscriptionCount += 1
      edges[input.id] = record
      return record.edge
    }
  }

  /// Removes an edge to an adopted publisher with its last subscription.
  ///
  /// The counts of an input stay.
  fileprivate func leave(_ edge: LineageEdge) {
    // Release the last reference outside the lock.
    let removed = edges.withLock { edges -> LineageEdgeRecord? in
      edges[edge.input.id]?.subscriptionCount -= 1
      guard !takes(edge.input), edges[edge.input.id]?.subscriptionCount == 0 else { return nil }
      return edges.removeValue(forKey: edge.input.id)
    }
    withExtendedLifetime(removed) {}
  }
}
