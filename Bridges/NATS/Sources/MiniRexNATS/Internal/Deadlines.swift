internal import Dispatch
internal import MiniRex

/// The continuous clock, with one timer for all that wait for it.
///
/// On the clock itself there would be a Swift task for each request, and a thread to wake for it.
/// Nearly all of them are answered in time, and then nothing has happened here.
final class Deadlines: SchedulingClock {
  private struct Wait: Sendable {
    let deadline: ContinuousClock.Instant
    let action: @Sendable () -> Void
  }

  private struct State: Sendable {
    var lastNumber: UInt64 = 0
    var waits: [UInt64: Wait] = [:]
    /// When the timer calls next, if it does; one that was set before may call earlier.
    var next: ContinuousClock.Instant?

    /// True if the timer has to be set for it.
    mutating func mustWake(at deadline: ContinuousClock.Instant) -> Bool {
      if let next, next <= deadline { return false }
      next = deadline
      return true
    }
  }

  static let shared = Deadlines()

  static func clock(for clock: any Clock<Duration>) -> any Clock<Duration> {
    clock is ContinuousClock ? shared : clock
  }

  private let clock = ContinuousClock()
  private let state = Lock(State())

  var now: ContinuousClock.Instant { clock.now }

  var minimumResolution: Duration { clock.minimumResolution }

  func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
    try await clock.sleep(until: deadline, tolerance: tolerance)
  }

  func schedule(
    at deadline: ContinuousClock.Instant, _ action: @escaping @Sendable () -> Void
  ) -> Subscription {
    let (number, mustWake) = state.withLock { state in
      state.lastNumber += 1
      state.waits[state.lastNumber] = Wait(deadline: deadline, action: action)
      return (state.lastNumber, state.mustWake(at: deadline))
    }
    if mustWake { wake(at: deadline) }
    return Subscription { [self] in forget(number) }
  }

  private func forget(_ number: UInt64) {
    // What the action has captured is released after the lock.
    _ = state.withLock { $0.waits.removeValue(forKey: number) }
  }

  /// Not more often than each millisecond, since all who wait are looked at.
  private func wake(at deadline: ContinuousClock.Instant) {
    let wait = min(max(1, now.duration(to: deadline).inMilliseconds + 1), 3_600_000)
    DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(Int(wait))) { [self] in
      callThoseDue()
    }
  }

  private func callThoseDue() {
    let now = now
    let (due, next) = state.withLock { state in
      let due = state.waits.filter { $0.value.deadline <= now }
      for number in due.keys { state.waits.removeValue(forKey: number) }
      state.next = nil
      let next = state.waits.values.lazy.map(\.deadline).min()
      return (due, next.flatMap { state.mustWake(at: $0) ? $0 : nil })
    }
    if let next { wake(at: next) }
    let order = due.sorted { ($0.value.deadline, $0.key) < ($1.value.deadline, $1.key) }
    for (_, wait) in order { wait.action() }
  }
}
