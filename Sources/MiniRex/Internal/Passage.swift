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

  /// The context of those that are subscribed to on its behalf.
  var upstream: WatchContext {
    lineage.graph == nil
      ? context
      : WatchContext(
        consumer: lineage, place: context.place, subscription: context.subscription)
  }

  /// After the callback, which the instrument might have ended before.
  func hasDelivered() {
    edge?.updateCount.add(1, ordering: .relaxed)
    if lineage.reports { lineage.record(.delivered, by: context) }
  }
}

extension Lineage {
  fileprivate var reports: Bool { role == .source || role == .trace }

  /// What subscribes to a publisher that has just been given this lineage.
  @usableFromInline
  func watching<Update>(
    _ start: @escaping @Sendable (@escaping @Sendable (Update) -> Void) -> Subscription
  ) -> @Sendable (@escaping @Sendable (Update) -> Void) -> Subscription {
    guard reports || graph != nil else { return start }
    return { receive in
      let passage = Passage(through: self)
      return passage.upstream.inForce {
        start { update in
          receive(update)
          passage.hasDelivered()
        }
      }
    }
  }
}
