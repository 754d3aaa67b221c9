internal import CNATS
internal import Dispatch

/// A connection of libnats, which is destroyed when nobody publishes or receives over it any more.
///
/// It is closed on a thread that may wait, for one that tries to connect; and destroyed on the thread
/// of the loop, where nothing is reading or writing for it then.
final class Handle: Sendable {
  let connection: CPointer
  let wire: Wire
  /// What libnats calls it, see `Links`.
  let closure: UInt

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

  /// Counted loosely, so that the buffer is asked for its size only now and then.
  func publish(_ message: Outgoing, sendLimit: Int, atOnce: Bool) throws(NATSError) {
    let waiting = Int(natsConnection_Buffered(connection.pointer))
    if waiting > 0, waiting + message.size > sendLimit { throw .sendLimitReached }
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
