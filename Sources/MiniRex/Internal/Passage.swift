internal import Synchronization

/// One subscription on its way through one watched publisher.
///
/// The callback captures it, so that its release tells of the end.
final class Passage: Sendable {
  private let lineage: Lineage
  private let context: WatchContext
  private let edge: LineageEdge?

  init(through lineage: Lineage) {
    self.lineage = lineage
    let context = WatchContext.current ?? WatchContext(consumer: nil, place: nil)
    self.context = context
    edge = context.consumer?.join(lineage, adopting: context.adopts)
    lineage.subscriberCount.add(1, ordering: .relaxed)
    if lineage.reports { lineage.record(.subscribed, by: context) }
  }

  deinit {
    lineage.subscriberCount.subtract(1, ordering: .relaxed)
    if let edge { context.consumer?.leave(edge) }
    if lineage.reports { lineage.record(.ended, by: context) }
  }

  /// After the callback, which the instrument might have ended before.
  func hasDelivered() {
    edge?.updateCount.add(1, ordering: .relaxed)
    if lineage.reports { lineage.record(.delivered, by: context) }
  }
}

extension Lineage {
  /// Subscribes to the publisher that has this lineage, and counts.
  @usableFromInline
  func pass<Update>(
    _ receive: @escaping @Sendable (Update) -> Void,
    by begin: (@escaping @Sendable (Update) -> Void) -> Subscription
  ) -> Subscription {
    let passage = Passage(through: self)
    return WatchContext.next(self).inForce {
      begin { update in
        receive(update)
        passage.hasDelivered()
      }
    }
  }
}
