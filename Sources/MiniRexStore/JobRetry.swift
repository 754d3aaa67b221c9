internal import MiniRex

/// The decision about the next attempt of a failed job.
///
/// ```swift
/// let retry = JobRetry.constant(.seconds(5), attempts: 20) { $0 is Unreachable }
/// ```
///
/// It does not survive a restart of the program, but its decisions do, as part of the state.
public struct JobRetry: Sendable {
  let delay: @Sendable (any Error, _ attempt: Int) -> Duration?

  /// Creates a policy from a closure.
  ///
  /// - Parameter delay: Returns the delay after the failure of an attempt, counted from 1, or `nil` to give the job
  ///   up. A delay below 0 counts as 0. It runs outside the store.
  public init(_ delay: @escaping @Sendable (_ error: any Error, _ attempt: Int) -> Duration?) {
    self.delay = delay
  }

  /// A policy that gives a job up after its first failure.
  public static let never = JobRetry { _, _ in nil }

  /// Returns a policy whose delay doubles with each attempt, up to a cap.
  ///
  /// - Parameters:
  ///   - first: The delay after the first failure. Traps if negative.
  ///   - cap: The longest delay. Traps if negative.
  ///   - jitter: The largest fraction of a delay, from 0 to 1, that is subtracted at random.
  ///   - attempts: The maximum number of attempts. By default, there is no limit. Traps if less than 1.
  ///   - isWorthIt: Returns `false` to give the job up after an error.
  public static func exponential(
    from first: Duration, upTo cap: Duration, jitter: Double = 0, attempts: Int? = nil,
    while isWorthIt: @escaping @Sendable (any Error) -> Bool = { _ in true }
  ) -> JobRetry {
    after(
      .exponential(from: first, upTo: cap, jitter: jitter), attempts: attempts, while: isWorthIt)
  }

  /// Returns a policy with the same delay after each failure.
  ///
  /// - Parameters:
  ///   - delay: The delay. Traps if negative.
  ///   - attempts: The maximum number of attempts. By default, there is no limit. Traps if less than 1.
  ///   - isWorthIt: Returns `false` to give the job up after an error.
  public static func constant(
    _ delay: Duration, attempts: Int? = nil,
    while isWorthIt: @escaping @Sendable (any Error) -> Bool = { _ in true }
  ) -> JobRetry {
    after(.constant(delay), attempts: attempts, while: isWorthIt)
  }

  private static func after(
    _ delay: RetryDelay, attempts: Int?, while isWorthIt: @escaping @Sendable (any Error) -> Bool
  ) -> JobRetry {
    if let attempts, attempts < 1 {
      misuse("'attempts' requires a count of 1 or more, not \(attempts). Use 'nil' for no limit.")
    }
    return JobRetry { error, attempt in
      guard attempt < attempts ?? .max, isWorthIt(error) else { return nil }
      return delay.delay(afterFailures: attempt)
    }
  }
}
