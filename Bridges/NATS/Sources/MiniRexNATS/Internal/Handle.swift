internal import CNATS
internal import Dispatch
internal import Synchronization

/// A connection of libnats, which is destroyed when nobody publishes or receives over it any more.
///
/// It is closed on a thread that may wait, for one that tries to connect; and destroyed on the thread
/// of the loop, where nothing is reading or writing for it then.
final class Handle: Sendable {
  let connection: CPointer
  let wire: Wire
  /// What libnats calls it, see `Links`.
  let closure: UInt
  /// How many bytes may be appended before libnats is asked again how many of them still wait.
  ///
  /// Asking takes the lock that the loop holds while it writes.
  private let room = Atomic(0)

  /// How much is appended before it is written by whoever publishes, as libnats does by itself.
  private static let portion = 32 << 10

  init(_ connection: CPointer, _ wire: Wire, _ closure: UInt) {
    self.connection = connection
    self.wire = wire
    self.closure = closure
  }

  deinit {
    DispatchQueue.global().async { [connection, wire] in
      natsConnection_Close(connection.pointer)
      EventLoop.shared.remove(wire) { natsConnection_Destroy(connection.pointer) }
    }
  }

  /// Appends a message, if that takes no more than a copy: with a loop, libnats writes nothing itself.
  ///
  /// - Returns: False if it is for `publish` to do that, or to say why it cannot be done.
  func appends(_ message: Outgoing) -> Bool {
    let left = room.load(ordering: .relaxed) - message.size
    if left < 0 || wire.isLost { return false }
    room.store(left, ordering: .relaxed)
    return message.append(to: connection.pointer) == NATS_OK
  }

  /// Counted loosely: two threads may find the same room.
  func publish(_ message: Outgoing, sendLimit: Int, atOnce: Bool) throws(NATSError) {
    let size = message.size
    var atOnce = atOnce
    if room.subtract(size, ordering: .relaxed).newValue < 0 {
      let waiting = max(0, Int(natsConnection_Buffered(connection.pointer)))
      if waiting > 0, waiting + size > sendLimit { throw .sendLimitReached }
      room.store(min(Self.portion, sendLimit - waiting) - size, ordering: .relaxed)
      if waiting >= Self.portion / 2 { atOnce = true }
    }
    let status =
      atOnce
      ? wire.writeAtOnce { message.append(to: connection.pointer) }
      : message.append(to: connection.pointer)
    if status == NATS_OK { return }
    if status == NATS_MAX_PAYLOAD {
      throw .payloadTooLarge(Int(natsConnection_GetMaxPayload(connection.pointer)))
    }
    throw NATSError(status)
  }
}
