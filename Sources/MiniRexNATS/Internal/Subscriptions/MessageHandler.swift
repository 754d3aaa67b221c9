#if NATS
internal import CNATS
internal import Synchronization

/// The target of libnats' callbacks for a subscription, released in the last of them.
///
/// The handler of a lost connection delivers all messages that it has received. Only then is the
/// handler of the next connection created, so callbacks stay serial.
final class MessageHandler: Sendable {
  let subject: String
  let queue: String?
  let subscription: ServerSubscription
  private let receive: @Sendable (RawMessage) -> Void
  private let core: ConnectionCore
  private let reportedDrops: Atomic<Int>
  /// The number of taken messages, above two flag bits.
  ///
  /// One atomic read after each message shows whether it was the last awaited message.
  private let taken: Atomic<Int>
  /// The address of its subscription, by which the connection finds it.
  private let key = Atomic<UInt>(0)

  private static let isLeaving = 1
  private static let isSlow = 2
  private static let one = 4

  init(
    _ subject: String, queue: String?, _ subscription: ServerSubscription,
    over core: ConnectionCore, reported: Int = 0, isSlow: Bool = false,
    _ receive: @escaping @Sendable (RawMessage) -> Void
  ) {
    self.subject = subject
    self.queue = queue
    self.subscription = subscription
    self.core = core
    reportedDrops = Atomic(reported)
    taken = Atomic(isSlow ? MessageHandler.isSlow : 0)
    self.receive = receive
  }

  var address: UInt {
    get { key.load(ordering: .acquiring) }
    set { key.store(newValue, ordering: .releasing) }
  }

  /// Returns a Boolean value that indicates whether the limit of the server applies to its subscription first.
  func isNewer(than other: ServerSubscription) -> Bool {
    !subscription.isEssential && subscription.number > other.number
  }

  /// Moves to the next connection, now or after all received messages are taken.
  ///
  /// - Parameter isComplete: A Boolean value that indicates whether this was the last callback of
  ///   libnats.
  func leave(isComplete: Bool = false) {
    let now = taken.bitwiseOr(MessageHandler.isLeaving, ordering: .acquiringAndReleasing).newValue
    guard subscription.leave(after: now / MessageHandler.one, complete: isComplete ? address : nil)
    else { return }
    let next = MessageHandler(
      subject, queue: queue, subscription, over: core,
      reported: reportedDrops.load(ordering: .relaxed),
      isSlow: now & MessageHandler.isSlow != 0, receive)
    core.subscribe(subscription, next, returns: true)
  }

  /// Reports the first dropped message immediately.
  ///
  /// The next callback reports the rest.
  func hasDropped() {
    taken.bitwiseOr(MessageHandler.isSlow, ordering: .relaxed)
    reportDrops()
  }

  private func reportDrops() {
    guard let total = subscription.droppedCount else { return }
    let count = total - reportedDrops.exchange(total, ordering: .relaxed)
    if count <= 0 { return }
    core.countDropped(count)
    core.report(.dropped(subject: subject, count: count, total: total))
  }

  private func take(_ message: RawMessage) {
    if taken.load(ordering: .relaxed) & MessageHandler.isSlow != 0 {
      taken.bitwiseAnd(~MessageHandler.isSlow, ordering: .relaxed)
      reportDrops()
    }
    receive(message)
    let now = taken.add(MessageHandler.one, ordering: .acquiringAndReleasing).newValue
    if now & MessageHandler.isLeaving != 0 { leave() }
  }

  /// Subscribes with libnats, which retains the handler until the last callback.
  func start(
    over handle: LibNATSConnection, _ options: NATSOptions
  ) throws(NATSError) -> CPointer {
    let closure = Unmanaged.passRetained(self).toOpaque()
    var started: OpaquePointer?
    let call: natsMsgHandler = { _, _, message, closure in
      guard let message, let closure else { return }
      // libnats retains it during this call.
      Unmanaged<MessageHandler>.fromOpaque(closure)._withUnsafeGuaranteedRef {
        $0.take(RawMessage(pointer: message))
      }
      MessageRecycler.add(message)
    }
    let connection = handle.connection.pointer
    let status =
      if let queue {
        natsConnection_QueueSubscribe(&started, connection, subject, queue, call, closure)
      } else {
        natsConnection_Subscribe(&started, connection, subject, call, closure)
      }
    guard status == NATS_OK, let started else {
      Unmanaged<MessageHandler>.fromOpaque(closure).release()
      throw NATSError(status)
    }
    address = UInt(bitPattern: started)
    core.add(self)
    // If the connection is being closed at this moment, a callback may be running and libnats
    // reports no end. Then the handler is never released.
    _ = natsSubscription_SetOnCompleteCB(
      started,
      { closure in
        guard let closure else { return }
        let handler = Unmanaged<MessageHandler>.fromOpaque(closure).takeRetainedValue()
        handler.core.remove(handler)
        handler.leave(isComplete: true)
      }, closure)
    _ = natsSubscription_SetPendingLimits(
      started, Int32(clamping: options.receiveLimit), Int32(clamping: options.receiveLimitInBytes))
    return CPointer(started)
  }
}
#endif
