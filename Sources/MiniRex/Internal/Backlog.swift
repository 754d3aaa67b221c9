/// What waits for its turn on the way to one subscriber; its token releases that, and knows how much
/// it is.
///
/// Unchecked like every `SubscriptionHost`: its state is in a `Lock`.
final class Backlog<Update: Sendable>: SubscriptionHost, @unchecked Sendable {
  /// `nil` once the subscription has ended: what still comes by then is not kept.
  private let queue = Lock<Queue<Update>?>(Queue())

  func append(_ update: Update) {
    queue.withLock { $0?.append(update) }
  }

  func popFirst() -> Update? {
    queue.withLock { $0?.popFirst() }
  }

  override func bufferCounts(of token: Subscription) -> BufferCounts {
    BufferCounts(pending: queue.withLock { $0?.count ?? 0 })
  }

  override func end(_ token: Subscription) {
    var queue = queue.withLock { $0.take() }
    ReleaseChain.release(&queue)
  }
}
