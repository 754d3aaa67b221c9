internal import Synchronization

/// One subscription on its way through one watched publisher.
///
/// The callback captures it, so that its release tells that the subscription has ended.
@usableFromInline
package final class Passage: Sendable {
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
    if lineage.reports { lineage.record(.ended, by: context) }
  }

  /// Called after the callback: an instrument that is told before it might end the subscription,
  /// which would then be called after its end.
  @usableFromInline @inline(never)
  func hasDelivered() {
    edge?.updateCount.add(1, ordering: .relaxed)
    if lineage.reports { lineage.record(.delivered, by: context) }
  }

  /// What is in force while the publisher subscribes to what it is made of.
  fileprivate var next: WatchContext {
    WatchContext(lineage, place: context.place, subscription: context.subscription)
  }
}

extension Lineage {
  /// Subscribes to the publisher that has this lineage, and counts.
  @usableFromInline
  func pass<Update>(
    _ receive: @escaping @Sendable (Update) -> Void,
    by connect: Connect<Update>
  ) -> Subscription {
    let passage = Passage(through: self)
    return passage.next.inForce {
      connect { update in
        receive(update)
        passage.hasDelivered()
      }
    }
  }

  /// What `subscribe(_:)` does before it connects; then it exits from the scope.
  @usableFromInline @inline(never)
  func enter(
    _ name: String, _ fileID: String, _ line: Int
  ) -> (passage: Passage?, scope: WatchScope) {
    let scope = context(of: name, at: CodePlace(fileID: fileID, line: line)).enter()
    guard isCountedByOthers else { return (nil, scope) }
    let passage = Passage(through: self)
    return (passage, WatchScope(outer: scope.outer, inner: passage.next.enter().inner))
  }

  /// What is in force while a form of `subscribe` subscribes to the publisher that has this
  /// lineage.
  func context(of name: String, at place: CodePlace?) -> WatchContext {
    guard let graph else { return WatchContext(nil, place: place) }
    let node = Lineage(
      .subscription, name, at: place, inputs: [self], instrument: instrument, graph: graph)
    return WatchContext(node, place: place, subscription: node.id)
  }

  /// Sources and traces tell an instrument what happens to them.
  var reports: Bool { role == .source || role == .trace }

  var isCountedByOthers: Bool { !reports && graph != nil }
}

/// The way from one publisher to one of its consumers, whatever the number of subscriptions.
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
  /// How many updates had come when the last picture was taken, and when that was.
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

  /// Lets go of an adopted publisher with its last subscription; the updates of an input stay
  /// counted.
  fileprivate func leave(_ edge: LineageEdge) {
    // The last reference goes after the lock.
    let removed = edges.withLock { edges -> LineageEdgeRecord? in
      edges[edge.input.id]?.subscriptionCount -= 1
      guard !takes(edge.input), edges[edge.input.id]?.subscriptionCount == 0 else { return nil }
      return edges.removeValue(forKey: edge.input.id)
    }
    withExtendedLifetime(removed) {}
  }
}
