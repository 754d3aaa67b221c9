package import MiniRexTesting

/// A manual clock that cannot schedule, so that operators must sleep on it.
package struct SleepingClock: Clock {
  private let manual: ManualClock
  /// The extra duration of each sleep.
  private let lateness: Duration
  package let sleeps = Shared(0)

  package init(manual: ManualClock, lateness: Duration = .zero) {
    self.manual = manual
    self.lateness = lateness
  }

  package var now: ManualClock.Instant { manual.now }
  package var minimumResolution: Duration { .zero }

  package func sleep(until deadline: ManualClock.Instant, tolerance: Duration?) async throws {
    sleeps.increment()
    try await manual.sleep(until: deadline.advanced(by: lateness), tolerance: tolerance)
  }
}
