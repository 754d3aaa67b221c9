/// The operations of a clock that timed operators use, without its type.
///
/// Instants are durations since the creation of the operator. A clock is user code. It runs outside
/// locks.
@usableFromInline
package struct Timekeeper: Sendable {
  @usableFromInline package let now: @Sendable () -> Duration
  /// Runs a closure at an instant, unless the subscription is canceled first.
  ///
  /// A sleeping task inherits the task-local values of the caller only if the closure works for the caller.
  private let schedule:
    @Sendable (_ instant: Duration, _ inherits: Bool, @escaping @Sendable () -> Void) ->
      Subscription
  /// `true` if the clock schedules closures itself.
  ///
  /// Such a clock releases a canceled closure. It may keep a closure with a past instant until it moves.
  let isScheduling: Bool

  package init(_ clock: any Clock<Duration>) {
    // A schedule of the continuous clock is a sleeping task.
    if let clock = clock as? any SchedulingClock<Duration>, !(clock is ContinuousClock) {
      self.init(scheduling: clock)
    } else {
      self.init(sleeping: clock)
    }
  }

  private init(scheduling clock: some SchedulingClock<Duration>) {
    let origin = clock.now
    now = { origin.duration(to: clock.now) }
    schedule = { instant, _, action in clock.schedule(at: origin.advanced(by: instant), action) }
    isScheduling = true
  }

  /// Creates a timekeeper that runs a sleeping task per call.
  ///
  /// A clock that throws without a cancellation is considered stopped.
  private init(sleeping clock: some Clock<Duration>) {
    let origin = clock.now
    now = { origin.duration(to: clock.now) }
    schedule = { instant, inherits, action in
      sleeping(
        until: origin.advanced(by: min(instant, .longestWait)), on: clock, inherits: inherits,
        then: action)
    }
    isScheduling = false
  }

  /// Runs a closure at an instant, unless the subscription is canceled first.
  ///
  /// The closure inherits nothing: it may work for other callers, long after this call.
  func wake(_ instant: Duration, _ action: @escaping @Sendable () -> Void) -> Subscription {
    schedule(instant, false, action)
  }

  /// Runs the closure after the duration, for the caller.
  ///
  /// It runs now if the clock has moved to the instant before the closure is scheduled, as in `Alarm`.
  func wake(after duration: Duration, _ action: @escaping @Sendable () -> Void) -> Subscription {
    let start = now()
    let instant = start + duration
    guard isScheduling else { return schedule(instant, true, action) }
    let call = OneCall(action)
    let timer = schedule(instant, true) { call.take()?() }
    let end = now()
    if end > start, end >= instant, let action = call.take() {
      timer.invalidate()
      action()
    }
    return timer
  }
}

/// Runs a closure after a sleep, in a Swift task.
///
/// - Parameter inherits: `false` if the task inherits only the priority of the caller.
func sleeping<C: Clock>(
  until deadline: C.Instant, on clock: C, inherits: Bool = true,
  then action: @escaping @Sendable () -> Void
) -> Subscription {
  let call = OneCall(action)
  @Sendable func sleep() async {
    do { try await clock.sleep(until: deadline, tolerance: nil) } catch { return }
    call.take()?()
  }
  let task =
    inherits
    ? Task { await sleep() } : Task.detached(priority: Task.currentPriority) { await sleep() }
  // A task that is already calling must not be canceled, because its callbacks would inherit the
  // cancellation.
  return Subscription { if call.take() != nil { task.cancel() } }
}

/// A closure that runs once, or is released before.
private final class OneCall: Sendable {
  private let action: Lock<(@Sendable () -> Void)?>

  init(_ action: @escaping @Sendable () -> Void) {
    self.action = Lock(action)
  }

  func take() -> (@Sendable () -> Void)? {
    action.withLock { $0.take() }
  }
}

extension Duration {
  /// 146 billion years, the longest wait that every clock can represent.
  static let longestWait = Duration.seconds(Int64.max / 2)
}

/// Returns the duration, limited to the longest wait.
///
/// Traps if it is negative.
func clampedWait(_ duration: Duration, of name: StaticString) -> Duration {
  if duration < .zero { misuse("'\(name)' requires a duration of 0 or more, not \(duration).") }
  return min(duration, .longestWait)
}
