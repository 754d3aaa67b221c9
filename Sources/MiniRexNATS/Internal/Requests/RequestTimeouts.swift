#if NATS
internal import Dispatch
internal import MiniRex

/// One timer for all requests with the continuous clock.
///
/// The operator `timeout` would add a task for each request and wake a thread for its clock. Most
/// requests are answered in time and never reach this timer.
final class RequestTimeouts: Sendable {
  private struct Wait: Sendable {
    let deadline: ContinuousClock.Instant
    let action: @Sendable () -> Void
  }

  private struct State: Sendable {
    var lastNumber: UInt64 = 0
    var waits: [UInt64: Wait] = [:]
    /// The next time at which the timer fires, if it is set.
    ///
    /// An earlier timer may fire as well.
    var next: ContinuousClock.Instant?

    /// Returns `true` if the timer has to be set for the deadline.
    mutating func mustWake(at deadline: ContinuousClock.Instant) -> Bool {
      if let next, next <= deadline { return false }
      next = deadline
      return true
    }
  }

  static let shared = RequestTimeouts()

  private let state = Lock(State())

  /// Calls `action` after the duration, unless the subscription is canceled before.
  func wait(for duration: Duration, then action: @escaping @Sendable () -> Void) -> Subscription {
    // Clamped to a deadline that the clock can represent.
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
    // The captures of the action are released outside the lock.
    _ = state.withLock { $0.waits.removeValue(forKey: number) }
  }

  /// Fires at most once per millisecond, because each firing examines all requests.
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
    // An action runs callbacks of a task, and one that blocks delays no other.
    for (_, wait) in order.dropLast() { DispatchQueue.global().async { wait.action() } }
    order.last?.value.action()
  }
}
#endif
