/// What waits for a loop or for a hop, within the limit of its policy; the owner's lock guards it.
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

  /// What waits, to be released after the lock; `nil` if nothing does.
  mutating func takeAll() -> Queue<Update>? {
    if queue.count == 0 { return nil }
    defer { queue = Queue() }
    return queue
  }

  /// - Returns: What the update has pushed out, to be released after the lock.
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
    case .newest, .oldest, .none:
      queue.append(update)
    }
    return nil
  }
}

/// What waits in buffers, and what they have dropped.
@usableFromInline
struct BufferCounts: Sendable {
  var pending = 0
  var dropped = 0

  static func + (one: BufferCounts, other: BufferCounts) -> BufferCounts {
    BufferCounts(pending: one.pending + other.pending, dropped: one.dropped + other.dropped)
  }
}
