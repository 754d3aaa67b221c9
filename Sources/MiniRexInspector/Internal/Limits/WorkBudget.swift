internal import Foundation

/// Limits work to a share of a processor.
///
/// The budget grows with time, up to a limit, so that short bursts of work are not restricted. Neither
/// are a few pieces of work per second, unless they are long.
struct WorkBudget: Sendable {
  private let share: Double?
  private let limit: Double
  /// The debt above which even a few pieces of work exceed the budget.
  private let longest: Double
  private let few: Int
  /// The processor time that may be used now, in seconds.
  private var seconds: Double
  private var time: ContinuousClock.Instant?
  /// The pieces of work in the second that began at `start`.
  private var count = 0
  private var start: ContinuousClock.Instant?

  /// - Parameters:
  ///   - share: The share of a processor, or `nil` for no limit.
  ///   - limit: The processor time of a burst.
  ///   - few: The number of pieces of work per second that exceed the budget only if they are long.
  init(share: Double?, limit: Duration, few: Int = 20) {
    self.share = share
    self.few = few
    self.limit = limit / .seconds(1)
    longest = 5 * self.limit
    seconds = self.limit
  }

  /// A Boolean value that indicates whether the work has exceeded its share.
  var isExceeded: Bool { count > few ? seconds < 0 : seconds < -longest }

  /// Adds the processor time of a piece of work that ended at `now`.
  mutating func spend(_ used: Duration, at now: ContinuousClock.Instant) {
    guard let share else { return }
    let passed = time.map { $0.duration(to: now) / .seconds(1) } ?? 0
    time = now
    let rest = seconds + passed * share - used / .seconds(1)
    // Without this bound, hours of work would make a debt for hours.
    seconds = max(-longest - limit, min(limit, rest))
    if let start, start.duration(to: now) < .seconds(1) {
      count += 1
    } else {
      (count, start) = (1, now)
    }
  }
}

/// Returns the processor time of the current thread.
func threadTime() -> Duration {
  var time = timespec()
  unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
  return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
}
