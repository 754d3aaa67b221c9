internal import Dispatch
internal import MiniRex

/// One timer for all requests that wait by the continuous clock.
///
/// With `timeout` there would be a second task for each request, and a thread to wake for its clock.
/// Nearly all of them are answered in time, and then nothing has happened here.
final class Deadlines: Sendable {
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

  private let state = Lock(State())

  /// Calls `action` when the time is up, unless the token ends before.
  func wait(for duration: Duration, then action: @escaping @Sendable () -> Void) -> Subscription {
    // As far as the clock can say, whatever its beginning.
    let deadline = ContinuousClock.now.advanced(by: min(duration, .seconds(Int64.max / 2)))
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
    let wait = ContinuousClock.now.duration(to: deadline).inMilliseconds
    DispatchQueue.global().asyncAfter(
      deadline: .now() + .milliseconds(Int(min(max(0, wait) + 1, 3_600_000)))
    ) { [self] in callThoseDue() }
  }

  private func callThoseDue() {
    let now = ContinuousClock.now
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
