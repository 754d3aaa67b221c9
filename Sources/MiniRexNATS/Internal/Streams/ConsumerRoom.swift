#if NATS
internal import MiniRex

/// Decides how many messages the server may send ahead of the acknowledgments.
final class ConsumerRoom: Sendable {
  enum Step: Sendable {
    case proceed
    /// The server sends further messages after an acknowledgment.
    case acknowledge
    /// Another consumer must have another number.
    case restart
  }

  /// The subscription, which knows the suspending subscribers.
  let flow = ReadAhead()
  /// The number that the server permits, and the present consumer's.
  private let counts: Lock<(limit: Int, granted: Int)>

  init(receiveLimit: Int) {
    // With half of the limit, no message is dropped. A dropped message would be requested again, with
    // all later messages.
    let limit = min(max(1, receiveLimit / 2), 16_384)
    counts = Lock((limit, limit))
  }

  /// Half of the smallest limit of the suspending subscribers, because the server may send as many
  /// messages again before the subscriber has taken the first.
  var next: Int {
    let most = flow.limit.map { max(1, $0 / 2) } ?? .max
    return counts.withLock { min($0.limit, most) }
  }

  /// Returns the number of a new consumer.
  func grant() -> Int {
    let next = next
    counts.withLock { $0.granted = next }
    return next
  }

  /// Records the limit of the server.
  func reduce(to limit: Int) { counts.withLock { $0.limit = limit } }

  /// Acknowledges from time to time.
  ///
  /// - Parameter delivered: The number of messages that the consumer has delivered.
  func step(after delivered: UInt64) -> Step {
    let granted = counts.withLock { $0.granted }
    if flow.isFollowed, next != granted { return .restart }
    return delivered % UInt64(max(1, granted / 2)) == 0 ? .acknowledge : .proceed
  }

  /// Runs the body once each suspending subscriber has room for all messages that the server may then
  /// send.
  func whenFree(_ body: @escaping @Sendable () -> Void) {
    if !flow.isFollowed { return body() }
    flow.whenRoom(for: counts.withLock { $0.granted }, body)
  }
}
#endif
