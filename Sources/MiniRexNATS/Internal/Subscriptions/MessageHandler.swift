#if NATS
internal import CNATS
internal import MiniRex
internal import Synchronization

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// The target of libnats' callbacks for a subscription, released in the last of them.
///
/// The handler of a lost connection delivers all messages that it has received. Only then is the
/// handler of the next connection created, so callbacks stay serial.
final class MessageHandler: Sendable {
  /// The closure of the subscriber, which a handler without an end releases early.
  private final class Receiver: Sendable {
    let receive: @Sendable (RawMessage) -> Void

    init(_ receive: @escaping @Sendable (RawMessage) -> Void) { self.receive = receive }
  }

  let subject: String
  let queue: String?
  let subscription: ServerSubscription
  private let core: ConnectionCore
  /// The closure, retained until `giveUp` or the end.
  private let receiver: Unmanaged<Receiver>
  private let reportedDrops: Atomic<Int>
  /// The number of taken messages, above four flag bits.
  ///
  /// One atomic read after each message shows whether it was the last awaited message.
  private let taken: Atomic<Int>
  /// The address of its subscription, by which the connection finds it.
  private let key = Atomic<UInt>(0)

  private static let isLeaving = 1
  private static let isSlow = 2
  /// A callback waits, because it is unknown whether libnats will report the end.
  private static let isStarting = 4
  /// libnats will not report the end.
  private static let isGivenUp = 8
  private static let one = 16
  /// The handlers that a callback may still begin with, and that libnats does not release.
  private static let givenUp = Lock<[MessageHandler]>([])

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
    taken = Atomic(MessageHandler.isStarting | (isSlow ? MessageHandler.isSlow : 0))
    receiver = .passRetained(Receiver(receive))
  }

  deinit {
    if taken.load(ordering: .acquiring) & MessageHandler.isGivenUp == 0 { receiver.release() }
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
    core.subscribe(subscription, next(isSlow: now & MessageHandler.isSlow != 0), returns: true)
  }

  /// Returns the handler of another attempt.
  func next() -> MessageHandler {
    next(isSlow: taken.load(ordering: .relaxed) & MessageHandler.isSlow != 0)
  }

  private func next(isSlow: Bool) -> MessageHandler {
    receiver._withUnsafeGuaranteedRef {
      MessageHandler(
        subject, queue: queue, subscription, over: core,
        reported: reportedDrops.load(ordering: .relaxed), isSlow: isSlow, $0.receive)
    }
  }

  /// Returns the handler of another attempt, after `observe` has failed.
  ///
  /// A callback may be about to begin, so this handler stays in memory. It has received no message, and receives none.
  func giveUp() -> MessageHandler {
    let next = next()
    core.remove(self)
    MessageHandler.givenUp.withLock { $0.append(self) }
    Unmanaged.passUnretained(self).release()
    taken.bitwiseXor(
      MessageHandler.isStarting | MessageHandler.isGivenUp, ordering: .acquiringAndReleasing)
    receiver.release()
    return next
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
    let flags = taken.load(ordering: .acquiring)
    if flags & (MessageHandler.isSlow | MessageHandler.isStarting | MessageHandler.isGivenUp) != 0 {
      while taken.load(ordering: .acquiring) & MessageHandler.isStarting != 0 { sched_yield() }
      let flags = taken.bitwiseAnd(~MessageHandler.isSlow, ordering: .acquiring).oldValue
      if flags & MessageHandler.isGivenUp != 0 { return }
      if flags & MessageHandler.isSlow != 0 { reportDrops() }
    }
    receiver._withUnsafeGuaranteedRef { $0.receive(message) }
    let now = taken.add(MessageHandler.one, ordering: .acquiringAndReleasing).newValue
    if now & MessageHandler.isLeaving != 0 { leave() }
  }

  /// Subscribes with libnats, which retains the handler until the last callback.
  ///
  /// `observe` must follow.
  func start(over handle: LibNATSConnection) throws(NATSError) -> CPointer {
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
    return CPointer(started)
  }

  /// Requests the report of the last callback, and lets callbacks begin.
  ///
  /// - Returns: `false` if the connection was closed after `start`, and `giveUp` must follow.
  func observe(_ started: CPointer, _ options: NATSOptions) -> Bool {
    let status = natsSubscription_SetOnCompleteCB(
      started.pointer,
      { closure in
        guard let closure else { return }
        let handler = Unmanaged<MessageHandler>.fromOpaque(closure).takeRetainedValue()
        handler.core.remove(handler)
        handler.leave(isComplete: true)
      }, Unmanaged.passUnretained(self).toOpaque())
    if status != NATS_OK { return false }
    _ = natsSubscription_SetPendingLimits(
      started.pointer, Int32(clamping: options.receiveLimit),
      Int32(clamping: options.receiveLimitInBytes))
    taken.bitwiseAnd(~MessageHandler.isStarting, ordering: .releasing)
    return true
  }
}
#endif
