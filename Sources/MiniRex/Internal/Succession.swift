/// Subscriptions that follow each other, and are ended together.
///
/// There is no gate between them and the callback, so each is waited for, where `GatedInputs` waits
/// for its gate alone. Unchecked like every `SubscriptionHost`; it is constant.
final class Succession: SubscriptionHost, @unchecked Sendable {
  private let first: Subscription
  /// Is subscribed from the beginning, although its turn comes later.
  private let next: Subscription

  init(_ first: Subscription, then next: Subscription) {
    self.first = first
    self.next = next
  }

  override func isSubscribed(_ token: Subscription) -> Bool { next.isSubscribed }

  override func bufferCounts(of token: Subscription) -> BufferCounts {
    first.bufferCounts + next.bufferCounts
  }

  override func end(_ token: Subscription) {
    next.invalidate()
    first.invalidate()
  }

  override func end(_ token: Subscription, for drain: Drain) {
    drain.end(next)
    drain.end(first)
  }
}
