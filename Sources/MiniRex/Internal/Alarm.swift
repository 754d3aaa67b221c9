/// The one alarm of one subscription to a timed operator.
///
/// It is set by callbacks that do not overlap, and ended by anybody.
final class Alarm: Sendable {
  private struct State {
    /// `nil` once the alarm has ended.
    var ring: (@Sendable (Duration) -> Void)?
    /// When it is to ring.
    var instant = Duration.zero
    /// When the clock is going to call, if it is.
    var wakesAt: Duration?
    var timer: Subscription?
    /// Which of its timers counts; one that was replaced may still call.
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

  /// - Parameter ring: Called with the instant to which the alarm was set.
  init(_ timekeeper: Timekeeper, ring: @escaping @Sendable (Duration) -> Void) {
    self.timekeeper = timekeeper
    state = Lock(State(ring: ring))
  }

  /// Rings at the instant, and no more at the one to which it was set before.
  ///
  /// A cancelled sleep stays in most clocks until its time has come, and a debounced burst would
  /// leave thousands there. So a task that wakes early enough is left alone, and sleeps on then.
  func set(to instant: Duration) {
    let setting: Setting? = state.withLock { state in
      guard state.ring != nil else { return nil }
      state.instant = instant
      if !timekeeper.forgetsEnded, let wakesAt = state.wakesAt, wakesAt <= instant { return nil }
      return state.begin(at: instant)
    }
    if let setting { start(setting) }
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

  /// Rings now, as if it had been set to the instant.
  func ring(at instant: Duration) {
    state.withLock { $0.ring }?(instant)
  }

  /// Never rings again, and releases what it would call.
  func end() {
    // What `ring` has captured is released when this returns, after the lock.
    let (_, timer) = state.withLock { ($0.ring.take(), $0.timer.take()) }
    timer?.invalidate()
  }
}
