/// An immediate turn, for all subscribers that have joined by now.
@usableFromInline
package struct Turn: Sendable {
  @usableFromInline let lastSerial: UInt
  @usableFromInline let extent: Extent

  /// `true` if the delivering thread only continues with the queue, which contains the update.
  @inlinable var isForNobody: Bool { lastSerial == 0 }

  @inlinable @inline(__always)
  init(lastSerial: UInt, extent: Extent) {
    self.lastSerial = lastSerial
    self.extent = extent
  }
}

/// A turn from the queue, for the subscribers of its ticket.
///
/// Its extent is `nil` if they have all ended.
@usableFromInline
struct QueuedTurn: Sendable {
  @usableFromInline let ticket: Ticket
  @usableFromInline let extent: Extent?
}

/// The next step of the delivering thread of a `Delivery`.
@usableFromInline
enum NextTurn: Sendable {
  case turn(QueuedTurn)
  case callTask
  case rest
}

/// The thread that makes the first call of a new subscriber.
@usableFromInline
package enum FirstCall: Sendable {
  /// The subscribing thread, which has become the delivering thread.
  case asDeliverer
  /// The subscribing thread, which is already delivering.
  case nested
  /// The delivering thread.
  case queued
  /// The subscribing thread.
  ///
  /// The source has finished, so the subscriber has not joined.
  case only
}
