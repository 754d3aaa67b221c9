/// A clock that can run a closure at an instant, not only let a task sleep until then.
///
/// Timed operators schedule on such a clock directly, so that a test which moves it by hand finds
/// everything delivered that was due. On any other clock a Swift task sleeps until the deadline.
public protocol SchedulingClock<Duration>: Clock {
  /// Calls `action` once, at the deadline or soon after it, and releases it then.
  ///
  /// A deadline that has passed is due at once. What is due at the same time is called in the order
  /// of deadlines, then in the order of scheduling.
  ///
  /// - Returns: The token, which ends the wait and releases `action` when it goes. Ending it after
  ///   the call does nothing.
  func schedule(
    at deadline: Instant, _ action: @escaping @Sendable () -> Void
  ) -> Subscription
}
