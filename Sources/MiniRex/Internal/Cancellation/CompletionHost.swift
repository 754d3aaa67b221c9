/// Runs `onEnd` unless the subscription is canceled first.
final class CompletionHost: SubscriptionHost {
  private struct State {
    var onEnd: OnceClosure?
    var input: Subscription?
    /// The thread that is running `onEnd`, and the groups that wait for its return.
    var caller: ThreadID?
    var groups: [WaitGroup] = []
    var endCalls = EndCalls()

    /// Returns the calls of `ended` after a cancellation, unless `onEnd` is running.
    mutating func takeEndCalls() -> [WaitingCall] { caller == nil ? endCalls.takeAll() : [] }
  }

  private let state: Lock<State>

  init(_ onEnd: @escaping @Sendable () -> Void) {
    state = Lock(State(onEnd: OnceClosure(onEnd)))
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
    let (groups, endCalls) = state.withLock { state in
      state.caller = nil
      defer { state.groups = [] }
      return (state.groups, state.takeEndCalls())
    }
    for group in groups { group.leave() }
    for call in endCalls { call.resume() }
  }

  /// `true` until `onEnd` runs, although the source ends all its subscriptions together.
  ///
  /// Code that releases ended subscriptions must not prevent `onEnd`.
  func isSubscribed(_ token: Subscription) -> Bool {
    state.withLock { $0.onEnd != nil }
  }

  func withEndCalls(
    of token: Subscription, _ body: (inout EndCalls, _ isActive: Bool) -> Void
  ) {
    state.withLock { state in
      let isActive = state.onEnd != nil || state.caller != nil
      body(&state.endCalls, isActive)
    }
  }

  func bufferCounts(of token: Subscription) -> BufferCounts {
    state.withLock { $0.input }?.bufferCounts ?? BufferCounts()
  }

  func collectDrains(of token: Subscription, into drains: inout [Drain]) {
    guard let input = state.withLock({ $0.input }) else { return }
    input.host.collectDrains(of: input, into: &drains)
  }

  func attach(_ counter: InFlightCounter, of token: Subscription) {
    if let input = state.withLock({ $0.input }) { input.host.attach(counter, of: input) }
  }

  func collectSources(into sources: inout SharedSources) {
    state.withLock { $0.input }?.host.collectSources(into: &sources)
  }

  func end(_ token: Subscription) {
    var (onEnd, input, endCalls) = state.withLock {
      ($0.onEnd.take(), $0.input, $0.takeEndCalls())
    }
    input?.invalidate()
    ReleaseChain.release(&onEnd)
    for call in endCalls { call.resume() }
  }

  func end(_ token: Subscription, for group: WaitGroup) {
    let thread = ThreadID.current
    // The group enters in the step that takes `onEnd`, which could start between two steps.
    var (onEnd, input, endCalls) = state.withLock { state in
      if let caller = state.caller, caller != thread {
        group.enter()
        state.groups.append(group)
      }
      return (state.onEnd.take(), state.input, state.takeEndCalls())
    }
    if let input { group.end(input) }
    ReleaseChain.release(&onEnd)
    for call in endCalls { call.resume() }
  }
}
