/// What timed operators ask of a clock, whatever its type.
///
/// Instants are told as durations since the operator was made. A clock is user code: it is never
/// called under a lock.
struct Timekeeper: Sendable {
  let now: @Sendable () -> Duration
  /// Calls the closure at an instant, unless the token ends first.
  let wake: @Sendable (_ instant: Duration, @escaping @Sendable () -> Void) -> Subscription
  /// True if a token that is ended leaves nothing behind in the clock.
  let forgetsEnded: Bool

  init(_ clock: any Clock<Duration>) {
    if let clock = clock as? any SchedulingClock<Duration> {
      self.init(scheduling: clock)
    } else {
      self.init(sleeping: clock)
    }
  }

  private init(scheduling clock: some SchedulingClock<Duration>) {
    let origin = clock.now
    now = { origin.duration(to: clock.now) }
    wake = { instant, action in clock.schedule(at: origin.advanced(by: instant), action) }
    forgetsEnded = true
  }

  /// A task sleeps for each call.
  ///
  /// A clock that throws although nobody has cancelled its task is taken for one that has stopped.
  private init(sleeping clock: some Clock<Duration>) {
    let origin = clock.now
    now = { origin.duration(to: clock.now) }
    wake = { instant, action in
      let deadline = origin.advanced(by: min(instant, .longestWait))
      let call = OneCall(action)
      let task = Task {
        do { try await clock.sleep(until: deadline, tolerance: nil) } catch { return }
        call.take()?()
      }
      // Not the task that is calling right now: its callbacks would find themselves cancelled.
      return Subscription { if call.take() != nil { task.cancel() } }
    }
    forgetsEnded = false
  }

  /// Calls the closure when the duration has passed from now on.
  func wake(after duration: Duration, _ action: @escaping @Sendable () -> Void) -> Subscription {
    wake(now() + duration, action)
  }
}

/// A closure that is called once, or released before.
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
  /// 146 billion years: as far from now as every clock can say, whatever its beginning.
  static let longestWait = Duration.seconds(Int64.max / 2)
}

/// The duration, or the longest that a clock can say; a negative one stops the program.
func clampedWait(_ duration: Duration, of name: StaticString) -> Duration {
  if duration < .zero { misuse("'\(name)' takes a duration of 0 or more, not \(duration).") }
  return min(duration, .longestWait)
}
