public import MiniRex

/// A clock that moves only when you advance it.
///
/// ```swift
/// let clock = ManualClock()
/// let recorder = Recorder(source.publisher.debounce(for: .seconds(1), clock: clock))
/// source.broadcast(1)
/// clock.advance(by: .seconds(1))
/// #expect(recorder.updates == [1])
/// ```
///
/// ``advance(by:)`` runs the actions that are due, serially, in the order of their deadlines. Actions with
/// the same deadline run in the order of scheduling. During an action, ``now`` is its deadline. An action
/// that schedules another due action extends the same advance. A deadline at or before ``now`` is due in
/// the next advance, which may be an advance by zero.
///
/// If the clock passes the deadline of a timed operator before the operator has scheduled it, on another
/// thread, the operator runs its action immediately.
///
/// The clock is thread-safe. An advance during another advance adds to it. Made by an action of the clock,
/// it returns immediately. Made on another thread, it waits until the clock reaches its goal. An action that
/// waits for a thread that advances the clock therefore deadlocks.
public final class ManualClock: SchedulingClock {
  /// An instant of a manual clock, clamped to 292 billion years before and after its start.
  public struct Instant: InstantProtocol {
    /// The duration since the start of the clock.
    public let offset: Duration

    /// Creates an instant at the given duration after the start of the clock.
    public init(offset: Duration) {
      self.offset = offset.clamped
    }

    /// Returns the instant after the given duration.
    public func advanced(by duration: Duration) -> Instant {
      Instant(offset: offset + duration.clamped)
    }

    /// Returns the duration from this instant to another instant.
    public func duration(to other: Instant) -> Duration {
      other.offset - offset
    }

    /// Returns `true` if the first instant is earlier.
    public static func < (one: Instant, other: Instant) -> Bool {
      one.offset < other.offset
    }
  }

  let timetable = Lock(Timetable())

  /// Creates a clock whose current offset is 0.
  public init() {}

  /// The current time.
  public var now: Instant { timetable.withLock { $0.now } }

  /// Zero, because the clock distinguishes all durations.
  public var minimumResolution: Duration { .zero }

  /// The number of tasks and closures with a pending deadline.
  public var sleeperCount: Int { timetable.withLock { $0.sleeperCount } }

  /// Advances the time, and runs every action that is due.
  ///
  /// All actions have returned when `advance` returns. A task that slept on the clock is resumed, but may
  /// not have run yet. In async code, `await clock.advance(by:)` is ``advance(by:sleepers:)``, which can wait
  /// for sleeping tasks. Traps if the duration is negative.
  public func advance(by duration: Duration) {
    requireForward(duration)
    move { $0.goal.advanced(by: duration) }
  }

  /// Advances the time to an instant, as ``advance(by:)`` does.
  ///
  /// The time never decreases. For an instant in the past, only the actions that are due run.
  public func advance(to instant: Instant) {
    move { max($0.goal, instant) }
  }

  /// Advances the time to the next deadline, as ``advance(by:)`` does.
  ///
  /// - Returns: `false` if no deadline is pending. The time is then unchanged.
  @discardableResult
  public func advanceToNext() -> Bool {
    guard let deadline = timetable.withLock({ $0.nextDeadline }) else { return false }
    advance(to: deadline)
    return true
  }

  func requireForward(_ duration: Duration) {
    if duration < .zero { misuse("'advance' requires a duration of 0 or more, not \(duration).") }
  }

  private func move(to goal: (Timetable) -> Instant) {
    let parking = Parking()
    let thread = ThreadID.current
    let role = timetable.withLock { table in
      table.begin(to: goal(table), from: thread) { parking.open() }
    }
    switch role {
    case .lead: lead()
    case .follow: parking.wait()
    case .nest: break
    }
  }

  /// Runs all due actions up to the goal, including the goals of followers.
  func lead() {
    while true {
      switch timetable.withLock({ $0.next() }) {
      case .wake(let wake): wake()
      case .resume(let followers): for resume in followers { resume() }
      case .rest: return
      }
    }
  }
}

extension Duration {
  fileprivate var clamped: Duration {
    let end = Duration.seconds(Int64.max)
    return min(max(self, .zero - end), end)
  }
}
