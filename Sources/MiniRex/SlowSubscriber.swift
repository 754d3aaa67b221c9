/// A subscriber that has no room for further updates, and suspends the senders of a source.
///
/// See ``BroadcastSource/slowSubscribers``.
public struct SlowSubscriber: Hashable, Sendable, CustomStringConvertible {
  /// The place of the call that chose the policy, such as `values(.suspending(64))`.
  public let place: CodePlace
  /// The number of updates between the sources and the subscriber.
  public let pendingUpdates: Int
  /// The duration for which the subscriber has had no room.
  public let duration: Duration

  /// The place, the number, and the duration, such as `Feed/Page.swift:12: 64 pending, stalled for
  /// 2.0 seconds`.
  public var description: String {
    "\(place): \(pendingUpdates) pending, stalled for \(duration)"
  }
}
