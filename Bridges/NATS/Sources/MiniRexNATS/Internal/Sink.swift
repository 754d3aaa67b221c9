internal import CNATS
internal import Synchronization

/// What libnats calls for a subscription; it is released in the last of these calls.
///
/// One of a lost connection delivers what it has received, and only then is there one of the next
/// connection, so that they do not call at the same time.
final class Sink: Sendable {
  let subject: String
  let queue: String?
  private let feed: Feed
  private let receive: @Sendable (RawMessage) -> Void
  private let link: Link
  private let toldDrops: Atomic<Int>
  /// How many messages have been taken, above the two marks below: one look after each message tells
  /// whether this is the last that was waited for.
  private let taken: Atomic<Int>
  /// The address of its subscription, by which the link finds it.
  private let key = Atomic<UInt>(0)

  private static let isLeaving = 1
  private static let isSlow = 2
  private static let one = 4

  init(
    _ subject: String, queue: String?, _ feed: Feed, over link: Link, told: Int = 0,
    isSlow: Bool = false, _ receive: @escaping @Sendable (RawMessage) -> Void
  ) {
    self.subject = subject
    self.queue = queue
    self.feed = feed
    self.link = link
    toldDrops = Atomic(told)
    taken = Atomic(isSlow ? Sink.isSlow : 0)
    self.receive = receive
  }

  var address: UInt {
    get { key.load(ordering: .acquiring) }
    set { key.store(newValue, ordering: .releasing) }
  }

  /// Goes over to the next connection, now or when all that has been received is taken.
  func leave() {
    let now = taken.bitwiseOr(Sink.isLeaving, ordering: .acquiringAndReleasing).newValue
    guard feed.leave(after: now / Sink.one) else { return }
    let next = Sink(
      subject, queue: queue, feed, over: link, told: toldDrops.load(ordering: .relaxed),
      isSlow: now & Sink.isSlow != 0, receive)
    link.subscribe(feed, next, returns: true)
  }

  /// Tells at once that the first message has been dropped; how many follow is told by the next call.
  func hasDropped() {
    taken.bitwiseOr(Sink.isSlow, ordering: .relaxed)
    tellDrops()
  }

  private func tellDrops() {
    guard let total = feed.droppedCount else { return }
    let count = total - toldDrops.exchange(total, ordering: .relaxed)
    if count > 0 { link.tell(.dropped(subject: subject, count: count, total: total)) }
  }

  private func take(_ message: RawMessage) {
    if taken.load(ordering: .relaxed) & Sink.isSlow != 0 {
      taken.bitwiseAnd(~Sink.isSlow, ordering: .relaxed)
      tellDrops()
    }
    receive(message)
    let now = taken.add(Sink.one, ordering: .acquiringAndReleasing).newValue
    if now & Sink.isLeaving != 0 { leave() }
  }

  /// Has libnats call this, and keep it until it has called for the last time.
  func start(
    over handle: Handle, _ options: NATSOptions
  ) throws(NATSError) -> CPointer {
    let closure = Unmanaged.passRetained(self).toOpaque()
    var started: OpaquePointer?
    let call: natsMsgHandler = { _, _, message, closure in
      guard let message, let closure else { return }
      // libnats keeps it for as long as this runs.
      Unmanaged<Sink>.fromOpaque(closure)._withUnsafeGuaranteedRef {
        $0.take(RawMessage(pointer: message))
      }
      SpentMessages.add(message)
    }
    let connection = handle.connection.pointer
    let status =
      if let queue {
        natsConnection_QueueSubscribe(&started, connection, subject, queue, call, closure)
      } else {
        natsConnection_Subscribe(&started, connection, subject, call, closure)
      }
    guard status == NATS_OK, let started else {
      Unmanaged<Sink>.fromOpaque(closure).release()
      throw NATSError(status)
    }
    address = UInt(bitPattern: started)
    link.add(self)
    // If the connection is closed just now there may be a call under way, and no last one: then
    // the sink stays for good.
    _ = natsSubscription_SetOnCompleteCB(
      started,
      { closure in
        guard let closure else { return }
        let sink = Unmanaged<Sink>.fromOpaque(closure).takeRetainedValue()
        sink.link.remove(sink)
      }, closure)
    _ = natsSubscription_SetPendingLimits(
      started, Int32(clamping: options.receiveLimit), Int32(clamping: options.receiveLimitInBytes))
    return CPointer(started)
  }
}
