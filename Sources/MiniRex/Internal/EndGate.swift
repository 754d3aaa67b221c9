/// Calls `onEnd`, unless the subscription is ended from this side; its state is in a `Lock`.
final class EndGate: SubscriptionHost, @unchecked Sendable {
  private struct State {
    var onEnd: ClosingCall?
    var input: Subscription?
    /// The thread that calls `onEnd` now, and those who wait for it to return.
    var caller: ThreadID?
    var drains: [Drain] = []
  }

  private let state: Lock<State>

  init(_ onEnd: @escaping @Sendable () -> Void) {
    state = Lock(State(onEnd: ClosingCall(onEnd)))
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
    let drains = state.withLock { state in
      state.caller = nil
      defer { state.drains = [] }
      return state.drains
    }
    for drain in drains { drain.comeBack() }
  }

  /// True until it is `onEnd`'s turn, although the source ends its subscriptions all at once:
  /// whoever drops a token because it has ended must not keep `onEnd` from being called.
  override func isSubscribed(_ token: Subscription) -> Bool {
    state.withLock { $0.onEnd != nil }
  }

  override func bufferCounts(of token: Subscription) -> BufferCounts {
    state.withLock { $0.input }?.bufferCounts ?? BufferCounts()
  }

  override func tellOrigins(to origins: inout Origins) {
    state.withLock { $0.input }?.host.tellOrigins(to: &origins)
  }

  override func end(_ token: Subscription) {
    var (onEnd, input) = state.withLock { ($0.onEnd.take(), $0.input) }
    input?.invalidate()
    ReleaseChain.release(&onEnd)
  }

  override func end(_ token: Subscription, for drain: Drain) {
    let thread = ThreadID.current
    // One look for both, or `onEnd` could begin between them.
    var (onEnd, input) = state.withLock { state in
      if let caller = state.caller, caller != thread {
        drain.expect()
        state.drains.append(drain)
      }
      return (state.onEnd.take(), state.input)
    }
    if let input { drain.end(input) }
    ReleaseChain.release(&onEnd)
  }
}
