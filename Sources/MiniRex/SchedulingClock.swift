/// A clock that can run a closure at an instant, in addition to suspending a task until then.
///
/// Timed operators schedule directly on such a clock, so a test that advances it finds every due
/// update delivered. On other clocks, a Swift task sleeps until the deadline.
public protocol SchedulingClock<Duration>: Clock {
  /// Runs `action` once, at the deadline or soon after it, and then releases it.
  ///
  /// A deadline in the past is due immediately. Actions that are due together run by deadline, then
  /// in the order of scheduling.
  ///
  /// - Returns: A subscription. Canceling it prevents the call and releases `action`. After the
  ///   call, it has no effect.
  func schedule(
    at deadline: Instant, _ action: @escaping @Sendable () -> Void
  ) -> Subscription
}

extension ContinuousClock: SchedulingClock {
  /// Runs `action` once, at the deadline or soon after it, in a Swift task that sleeps until then.
  ///
  /// The Swift task exists until the deadline, even after a cancellation. See
  /// ``SchedulingClock/schedule(at:_:)``.
  public func schedule(
    at deadline: Instant, _ action: @escaping @Sendable () -> Void
  ) -> Subscription {
    sleeping(until: deadline, on: self, then: action)
  }
}
