/// The queued updates of a loop or a dispatcher, within the limit of its policy.
///
/// The lock of the owner guards it.
@usableFromInline
struct Buffer<Update: Sendable>: Sendable {
  @usableFromInline let limit: BufferLimit
  @usableFromInline var queue = Queue<Update>()
  @usableFromInline var droppedCount = 0

  @inlinable
  init(limit: BufferLimit) {
    self.limit = limit
  }

  @usableFromInline var counts: BufferCounts {
    BufferCounts(pending: queue.count, dropped: droppedCount)
  }

  /// Returns the queued updates for a release outside the lock, or `nil` if there are none.
  mutating func takeAll() -> Queue<Update>? {
    if queue.count == 0 { return nil }
    defer { queue = Queue() }
    return queue
  }

  /// Appends an update.
  ///
  /// A full buffer drops its oldest update or this one, unless it suspends senders.
  ///
  /// - Returns: The dropped update, for a release outside the lock.
  @inlinable
  mutating func append(_ update: Update) -> Update? {
    switch limit {
    case .newest(queue.count):
      droppedCount += 1
      let dropped = queue.popFirst()
      queue.append(update)
      return dropped
    case .oldest(queue.count):
      droppedCount += 1
    case .newest, .oldest, .none, .suspending:
      queue.append(update)
    }
    return nil
  }
}
