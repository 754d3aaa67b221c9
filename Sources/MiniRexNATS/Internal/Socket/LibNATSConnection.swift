#if NATS
internal import CNATS
internal import Dispatch
internal import Synchronization

/// A connection of libnats, destroyed when its last user releases it.
///
/// It is closed on a thread that may block, because an attempt to connect may be in progress. It is
/// destroyed on the thread of the loop, where no read or write is in progress at that time.
final class LibNATSConnection: Sendable {
  let connection: CPointer
  let wire: LoopSocket
  /// The identifier of the connection in callbacks of libnats, see `CallbackRegistry`.
  let closure: UInt
  /// The number of bytes that may be appended before the next query of libnats for its buffered
  /// bytes.
  ///
  /// The query takes the lock that the loop holds while it writes.
  private let room = Atomic(0)
  private let subscriptionCount = Atomic(0)
  /// The numbers of messages whose append has begun, that were appended, and that the server has.
  ///
  /// The first is an upper bound of the messages that may be lost. The second is a lower bound of
  /// the messages before a PING.
  private let begun = Atomic(0)
  private let appended = Atomic(0)
  private let confirmed = Atomic(0)
  private let awaitsConfirmation = Atomic(false)
  /// The numbers of the last PING and of the last answered PING.
  private let pings = Atomic(0)
  private let answered = Atomic(0)
  /// The time of the last answered PING in nanoseconds, or -1.
  private let roundTrip = Atomic<Int64>(-1)

  /// The number of appended bytes after which the publishing thread writes, as libnats does by
  /// default.
  private static let portion = 32 << 10

  init(_ connection: CPointer, _ wire: LoopSocket, _ closure: UInt) {
    self.connection = connection
    self.wire = wire
    self.closure = closure
  }

  deinit {
    LibNATS.closing.async { [connection, wire] in
      natsConnection_Close(connection.pointer)
      EventLoop.shared.remove(wire) { natsConnection_Destroy(connection.pointer) }
    }
  }

  /// Appends a message if a copy is enough.
  ///
  /// With a loop, libnats does not write here.
  ///
  /// - Returns: `false` if `publish` has to send it, or to throw the reason why it cannot be sent.
  func appends(_ message: OutgoingMessage) -> Bool {
    let left = room.load(ordering: .relaxed) - message.size
    if left < 0 || wire.isLost { return false }
    room.store(left, ordering: .relaxed)
    return append(message) == NATS_OK
  }

  private func append(_ message: OutgoingMessage) -> natsStatus {
    if !message.isConfirmed { return message.append(to: connection.pointer) }
    begun.add(1, ordering: .relaxed)
    let status = message.append(to: connection.pointer)
    if status != NATS_OK {
      begun.subtract(1, ordering: .relaxed)
      return status
    }
    appended.add(1, ordering: .releasing)
    if !awaitsConfirmation.load(ordering: .relaxed) { requestConfirmation() }
    return status
  }

  /// The time between the last answered PING and its answer.
  var roundTripTime: Duration? {
    let time = roundTrip.load(ordering: .relaxed)
    return time < 0 ? nil : .nanoseconds(time)
  }

  /// Sends a PING soon, and returns its number.
  ///
  /// The server answers it after all earlier commands.
  @discardableResult
  func ping() -> Int {
    let number = pings.load(ordering: .sequentiallyConsistent) + 1
    requestConfirmation()
    return number
  }

  /// Returns a Boolean value that indicates whether the server has answered the PING or a later PING.
  func hasAnswered(_ ping: Int) -> Bool { answered.load(ordering: .acquiring) >= ping }

  private func requestConfirmation() {
    if awaitsConfirmation.exchange(true, ordering: .sequentiallyConsistent) { return }
    Confirmations.shared.request(for: self)
  }

  /// The number of messages that the server has not confirmed.
  var unconfirmed: Int { begun.load(ordering: .acquiring) - confirmed.load(ordering: .acquiring) }

  /// Waits until the server has received all messages that were appended before.
  func confirm(within milliseconds: Int64) {
    awaitsConfirmation.store(false, ordering: .sequentiallyConsistent)
    let ping = pings.add(1, ordering: .sequentiallyConsistent).newValue
    let count = appended.load(ordering: .sequentiallyConsistent)
    let began = DispatchTime.now().uptimeNanoseconds
    if natsConnection_FlushTimeout(connection.pointer, milliseconds) == NATS_OK {
      let took = DispatchTime.now().uptimeNanoseconds - began
      roundTrip.store(Int64(clamping: took), ordering: .relaxed)
      confirmed.store(count, ordering: .releasing)
      answered.store(ping, ordering: .releasing)
    } else if !wire.isLost, !natsConnection_IsClosed(connection.pointer) {
      requestConfirmation()
    }
  }

  /// The number of subscriptions at the server.
  var subscriptions: Int { subscriptionCount.load(ordering: .acquiring) }

  /// Returns the new number.
  @discardableResult
  func countSubscription(_ change: Int) -> Int {
    subscriptionCount.add(change, ordering: .acquiringAndReleasing).newValue
  }

  /// Sends a message.
  ///
  /// The limit is approximate: two threads may reserve the same space.
  func publish(_ message: OutgoingMessage, sendLimit: Int, atOnce: Bool) throws(NATSError) {
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
      ? wire.writeAtOnce { append(message) }
      : append(message)
    if status == NATS_OK { return }
    if status == NATS_MAX_PAYLOAD {
      throw .payloadTooLarge(Int(natsConnection_GetMaxPayload(connection.pointer)))
    }
    throw NATSError(status)
  }
}
#endif
