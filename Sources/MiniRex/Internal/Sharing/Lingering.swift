/// The timer of a run that outlasts its last subscriber.
///
/// The clock is user code, so it is called outside the lock.
final class Lingering: Sendable {
  /// Runs a closure some time after the last cancellation.
  typealias Wake = @Sendable (@escaping @Sendable () -> Void) -> Subscription

  private struct State {
    /// The number of the valid timer.
    var number = 0
    var timer: Subscription?
    var hasEnded = false
  }

  private let wake: Wake
  private let state = Lock(State())

  init(_ wake: @escaping Wake) {
    self.wake = wake
  }

  /// Starts the timer again, unless the run is over.
  func begin(_ expire: @escaping @Sendable () -> Void) {
    let (number, replaced) = state.withLock { state -> (Int?, Subscription?) in
      if state.hasEnded { return (nil, nil) }
      state.number += 1
      return (state.number, state.timer.take())
    }
    guard let number else { return }
    replaced?.invalidate()
    let timer = wake { if self.expires(number) { expire() } }
    let isValid = state.withLock { state in
      guard state.number == number, !state.hasEnded else { return false }
      state.timer = timer
      return true
    }
    if !isValid { timer.invalidate() }
  }

  private func expires(_ number: Int) -> Bool {
    let (isValid, _) = state.withLock { state -> (Bool, Subscription?) in
      guard state.number == number, !state.hasEnded else { return (false, nil) }
      state.number += 1
      return (true, state.timer.take())
    }
    return isValid
  }

  /// Cancels the timer of a run that is over.
  func end() {
    let timer = state.withLock { state in
      state.hasEnded = true
      return state.timer.take()
    }
    timer?.invalidate()
  }
}
