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
  private let isSlow = Atomic(false)
  /// Over connections that were lost.
  private let earlierDrops: Int
  private let toldDrops: Atomic<Int>
  private let taken = Atomic(0)
  private let isLeaving = Atomic(false)

  init(
    _ subject: String, queue: String?, _ feed: Feed, over link: Link, drops: Int = 0, told: Int = 0,
    _ receive: @escaping @Sendable (RawMessage) -> Void
  ) {
    self.subject = subject
    self.queue = queue
    self.feed = feed
    self.link = link
    earlierDrops = drops
    toldDrops = Atomic(told)
    self.receive = receive
  }

  /// Goes over to the next connection, now or when all that has been received is taken.
  func leave() {
    isLeaving.store(true, ordering: .sequentiallyConsistent)
    guard let dropped = feed.leave(after: taken.load(ordering: .sequentiallyConsistent)) else {
      return
    }
    let next = Sink(
      subject, queue: queue, feed, over: link, drops: earlierDrops + dropped,
      told: toldDrops.load(ordering: .relaxed), receive)
    next.isSlow.store(isSlow.load(ordering: .relaxed), ordering: .relaxed)
    link.subscribe(feed, next, returns: true)
  }

  /// Tells at once that the first message has been dropped; how many follow is told by the next call.
  func hasDropped() {
    isSlow.store(true, ordering: .relaxed)
    tellDrops()
  }

  private func tellDrops() {
    guard let total = feed.droppedCount.map({ earlierDrops + $0 }) else { return }
    let count = total - toldDrops.exchange(total, ordering: .relaxed)
    if count > 0 { link.tell(.dropped(subject: subject, count: count, total: total)) }
  }

  private func take(_ message: RawMessage) {
    if isSlow.load(ordering: .relaxed), isSlow.exchange(false, ordering: .relaxed) { tellDrops() }
    receive(message)
    taken.add(1, ordering: .sequentiallyConsistent)
    if isLeaving.load(ordering: .sequentiallyConsistent) { leave() }
  }

  /// Has libnats call this, and keep it until it has called for the last time.
  func start(
    over handle: Handle, _ options: NATSOptions
  ) throws(NATSError) -> CPointer {
    let closure = Unmanaged.passRetained(self).toOpaque()
    var started: OpaquePointer?
    let call: natsMsgHandler = { _, _, message, closure in
      guard let message, let closure else { return }
      Unmanaged<Sink>.fromOpaque(closure).takeUnretainedValue().take(RawMessage(pointer: message))
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
    link.add(self, as: CPointer(started))
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
