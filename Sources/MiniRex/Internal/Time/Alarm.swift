/// The alarm of one owner: a subscription to a timed operator, a resource, or the jobs of a store.
///
/// Any thread may set it and end it. The last thread that sets it decides.
package final class Alarm: Sendable {
  private struct State {
    /// `nil` before it is known, and after the alarm ends.
    var ring: (@Sendable (Duration) -> Void)?
    /// The instant at which it rings.
    var instant = Duration.zero
    /// The instant at which the clock calls, if a call is scheduled.
    var wakesAt: Duration?
    var timer: Subscription?
    /// The number of the valid timer.
    ///
    /// A replaced timer may still call.
    var number = 0

    mutating func begin(at instant: Duration) -> Setting {
      number += 1
      wakesAt = instant
      return Setting(number: number, instant: instant, replaced: timer.take())
    }
  }

  private struct Setting {
    let number: Int
    let instant: Duration
    let replaced: Subscription?
  }

  private let timekeeper: Timekeeper
  private let state: Lock<State>

  /// - Parameter ring: A closure that receives the instant to which the alarm was set, or `nil` if
  ///   `onRing` sets it.
  package init(_ timekeeper: Timekeeper, ring: (@Sendable (Duration) -> Void)? = nil) {
    self.timekeeper = timekeeper
    state = Lock(State(ring: ring))
  }

  /// Sets the closure, once, for an owner whose closure refers to it.
  func onRing(_ ring: @escaping @Sendable (Duration) -> Void) {
    state.withLock { $0.ring = ring }
  }

  /// Sets the instant, and replaces the previous instant.
  ///
  /// Another thread may advance a manual clock to the instant before the instant is scheduled. The
  /// clock would ring only in its next advance, so the alarm rings now. If the clock has not moved, a
  /// due instant waits until the clock runs.
  ///
  /// - Parameter start: The time that was read to compute the instant.
  func set(to instant: Duration, from start: Duration) {
    set(to: instant)
    if timekeeper.isScheduling { ring(after: start) }
  }

  // In most clocks, a canceled sleep stays until its deadline, so a debounced burst would accumulate
  // thousands of them. A task that wakes early enough is therefore kept, and sleeps again.
  private func set(to instant: Duration) {
    let setting: Setting? = state.withLock { state in
      guard state.ring != nil else { return nil }
      state.instant = instant
      if !timekeeper.isScheduling, let wakesAt = state.wakesAt, wakesAt <= instant { return nil }
      return state.begin(at: instant)
    }
    if let setting { start(setting) }
  }

  /// Sets the instant, and rings now if the clock has reached it.
  ///
  /// For an instant that other threads know before the alarm is set. They may move a manual clock,
  /// which would ring only in its next advance.
  package func setOrRing(at instant: Duration) {
    set(to: instant)
    ring(after: nil)
  }

  /// Rings now if the clock has reached the instant, and has moved since `start`.
  private func ring(after start: Duration?) {
    let now = timekeeper.now()
    if let start, now <= start { return }
    if let number = state.withLock({ $0.instant <= now ? $0.number : nil }) { wake(number) }
  }

  private func start(_ setting: Setting) {
    setting.replaced?.invalidate()
    let timer = timekeeper.wake(setting.instant) { self.wake(setting.number) }
    let isKept = state.withLock { state in
      guard state.ring != nil, state.number == setting.number, state.wakesAt != nil else {
        return false
      }
      state.timer = timer
      return true
    }
    if !isKept { timer.invalidate() }
  }

  private func wake(_ number: Int) {
    var spent: Subscription?
    var setting: Setting?
    let ring: (@Sendable (Duration) -> Void, Duration)? = state.withLock { state in
      guard state.number == number, let wokenAt = state.wakesAt, let ring = state.ring else {
        return nil
      }
      spent = state.timer.take()
      state.wakesAt = nil
      if state.instant > wokenAt {
        setting = state.begin(at: state.instant)
        return nil
      }
      return (ring, state.instant)
    }
    spent?.invalidate()
    if let setting { start(setting) }
    if let (ring, instant) = ring { ring(instant) }
  }

  /// Cancels the call of the clock until it is set again.
  package func clear() {
    let timer = state.withLock { state in
      state.number += 1
      state.wakesAt = nil
      return state.timer.take()
    }
    timer?.invalidate()
  }

  /// Rings now, as if it had been set to the instant.
  func ring(at instant: Duration) {
    state.withLock { $0.ring }?(instant)
  }

  /// Ends the alarm, and releases its closure.
  package func end() {
    // The captures of `ring` are released after the lock, when this function returns.
    let (_, timer) = state.withLock { ($0.ring.take(), $0.timer.take()) }
    timer?.invalidate()
  }
}
