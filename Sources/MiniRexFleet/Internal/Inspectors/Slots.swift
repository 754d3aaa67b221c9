#if NATS
internal import MiniRex

/// The requests in progress.
final class Slots: Sendable {
  private let count = Lock(0)

  /// The number of slots in use.
  var usedCount: Int { count.withLock { $0 } }

  /// Returns a slot that is free again when it is released, or `nil` at the limit.
  func take(upTo limit: Int) -> Slot? {
    let isFree = count.withLock { count in
      if count >= limit { return false }
      count += 1
      return true
    }
    return isFree ? Slot(self) : nil
  }

  fileprivate func free() { count.withLock { $0 -= 1 } }
}

final class Slot: Sendable {
  private let slots: Slots

  fileprivate init(_ slots: Slots) { self.slots = slots }

  deinit { slots.free() }
}
#endif
