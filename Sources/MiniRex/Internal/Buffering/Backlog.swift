/// The queue of one subscriber's updates that wait for a slot.
///
/// Its subscription counts and releases them.
///
/// Unchecked like every `SubscriptionHost`: a `Lock` guards its state.
final class Backlog<Update: Sendable>: SubscriptionHost, @unchecked Sendable {
  /// `nil` after the subscription ends.
  ///
  /// Later updates are not stored.
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
