public import MiniRex

/// A clock whose time moves when you tell it to.
///
/// ```swift
/// let clock = ManualClock()
/// let recorder = Recorder(source.publisher.debounce(for: .seconds(1), clock: clock))
/// source.broadcast(1)
/// clock.advance(by: .seconds(1))
/// #expect(recorder.updates == [1])
/// ```
///
/// What is due is called inside ``advance(by:)``, one after the other, in the order of deadlines
/// and then of scheduling. At each call ``now`` is its deadline, and what it schedules is called as
/// well if it is due in time. A deadline that is not later than now waits for the next advance,
/// which may be one by zero.
///
/// It may be used on any thread. While one advance runs, another follows it: asked for by a call
/// that is due, it returns at once and the one that runs goes on; asked for on another thread, it
/// waits until that has happened. So advances add up, and two that wait for each other wait for
/// ever: do not let a call wait for another thread that advances the clock.
public final class ManualClock: SchedulingClock {
  /// A time of a manual clock, at most 292 billion years away from its beginning.
  ///
  /// What would be further away is that time.
  public struct Instant: InstantProtocol {
    /// How much later it is than the clock's beginning.
    public let offset: Duration

    /// The instant that is so much later than the clock's beginning.
    public init(offset: Duration) {
      self.offset = offset.clamped
    }

    /// The instant that is so much later.
    public func advanced(by duration: Duration) -> Instant {
      Instant(offset: offset + duration.clamped)
    }

    /// How much later the other instant is.
    public func duration(to other: Instant) -> Duration {
      other.offset - offset
    }

    /// True if the first is earlier.
    public static func < (one: Instant, other: Instant) -> Bool {
      one.offset < other.offset
    }
  }

  let timetable = Lock(Timetable())

  /// Makes a clock, at whose beginning the offset is 0.
  public init() {}

  /// What time it is.
  public var now: Instant { timetable.withLock { $0.now } }

  /// Zero: every duration can be told apart.
  public var minimumResolution: Duration { .zero }

  /// How many tasks and closures wait for a deadline.
  public var sleeperCount: Int { timetable.withLock { $0.sleeperCount } }

  /// Moves the time on, and calls everything that is due on the way.
  ///
  /// When it returns, all of that has returned. A task that sleeps on the clock has been woken, but
  /// may not have run yet; ``advance(by:sleepers:)``, which async code gets when it writes
  /// `await clock.advance(by:)`, can wait for that. A negative duration stops the program.
  public func advance(by duration: Duration) {
    requireForward(duration)
    move { $0.goal.advanced(by: duration) }
  }

  /// Moves the time on to an instant, like ``advance(by:)``.
  ///
  /// Time never goes back: to an instant that has passed, it calls what is due and changes nothing.
  public func advance(to instant: Instant) {
    move { max($0.goal, instant) }
  }

  /// Moves the time on to the next deadline, like ``advance(by:)``.
  ///
  /// - Returns: False if nothing waits for one; then it does nothing.
  @discardableResult
  public func advanceToNext() -> Bool {
    guard let deadline = timetable.withLock({ $0.nextDeadline }) else { return false }
    advance(to: deadline)
    return true
  }

  func requireForward(_ duration: Duration) {
    if duration < .zero { misuse("'advance' takes a duration of 0 or more, not \(duration).") }
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

  /// Runs everything until the goal is reached, also for those who follow.
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
