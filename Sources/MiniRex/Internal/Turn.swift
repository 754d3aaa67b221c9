/// A turn at once, for everybody who has joined by now.
@usableFromInline
package struct Turn: Sendable {
  @usableFromInline let lastSerial: UInt
  @usableFromInline let extent: Extent

  /// True if the deliverer only goes on with what waits, the update included.
  @inlinable var isForNobody: Bool { lastSerial == 0 }

  @inlinable @inline(__always)
  init(lastSerial: UInt, extent: Extent) {
    self.lastSerial = lastSerial
    self.extent = extent
  }
}

/// A turn from the queue, for those whom its ticket admits; no extent if they have all ended.
@usableFromInline
struct QueuedTurn: Sendable {
  @usableFromInline let ticket: Ticket
  @usableFromInline let extent: Extent?
}

/// What the deliverer of a `Delivery` does next.
@usableFromInline
enum NextTurn: Sendable {
  case turn(QueuedTurn)
  case callTask
  case rest
}

/// Who makes the first call of a new subscriber.
@usableFromInline
package enum FirstCall: Sendable {
  /// The subscribing thread, which has become the deliverer for it.
  case asDeliverer
  /// The subscribing thread, which delivers anyway.
  case nested
  /// The thread that delivers.
  case queued
  /// The subscribing thread, which has not joined, because the source has ended.
  case only
}
