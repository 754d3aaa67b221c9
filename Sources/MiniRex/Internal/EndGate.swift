/// Calls `onEnd`, unless the subscription is ended from this side; its state is in a `Lock`.
final class EndGate: SubscriptionHost, @unchecked Sendable {
  private struct State {
    var onEnd: (@Sendable () -> Void)?
    var input: Subscription?
    /// The thread that calls `onEnd` now, and those who wait for it to return.
    var caller: ThreadID?
    var waiters: [@Sendable () -> Void] = []
  }

  private let state: Lock<State>

  init(_ onEnd: @escaping @Sendable () -> Void) {
    state = Lock(State(onEnd: onEnd))
  }

  func subscription(to input: Subscription) -> Subscription {
    state.withLock { $0.input = input }
    return Subscription(self)
  }

  func sourceHasEnded() {
    let thread = ThreadID.current
    let onEnd = state.withLock { state in
      if state.onEnd != nil { state.caller = thread }
      return state.onEnd.take()
    }
    guard let onEnd else { return }
    onEnd()
    let waiters = state.withLock { state in
      state.caller = nil
      defer { state.waiters = [] }
      return state.waiters
    }
    for resume in waiters { resume() }
  }

  /// True until it is `onEnd`'s turn, although the source ends its subscriptions all at once: who
  /// drops a token because it has ended must not keep `onEnd` from being called.
  override func isSubscribed(_ token: Subscription) -> Bool {
    state.withLock { $0.onEnd != nil }
  }

  override func end(_ token: Subscription) {
    disarm()?.invalidate()
  }

  override func end(
    _ token: Subscription, notifying resume: @escaping @Sendable () -> Void
  ) -> Bool {
    let thread = ThreadID.current
    // One look for both, or `onEnd` could begin between them. What it has captured is released when
    // this returns, after the lock.
    let (isEnding, _, input) = state.withLock { state in
      if let caller = state.caller, caller != thread {
        state.waiters.append(resume)
        return (true, nil as (@Sendable () -> Void)?, nil as Subscription?)
      }
      return (false, state.onEnd.take(), state.input)
    }
    if isEnding { return true }
    return input.map { $0.host.end($0, notifying: resume) } ?? false
  }

  private func disarm() -> Subscription? {
    // What `onEnd` has captured is released when this returns, after the lock.
    let (_, input) = state.withLock { ($0.onEnd.take(), $0.input) }
    return input
  }
}
