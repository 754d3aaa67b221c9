/// Runs `onEnd` unless the subscription is canceled first.
///
/// A `Lock` guards its state.
final class CompletionGate: SubscriptionHost, @unchecked Sendable {
  private struct State {
    var onEnd: OnceClosure?
    var input: Subscription?
    /// The thread that is running `onEnd`, and the groups that wait for its return.
    var caller: ThreadID?
    var groups: [WaitGroup] = []
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
    let groups = state.withLock { state in
      state.caller = nil
      defer { state.groups = [] }
      return state.groups
    }
    for group in groups { group.leave() }
  }

  /// `true` until `onEnd` runs, although the source ends all its subscriptions together.
  ///
  /// Code that releases ended subscriptions must not prevent `onEnd`.
  override func isSubscribed(_ token: Subscription) -> Bool {
    state.withLock { $0.onEnd != nil }
  }

  override func bufferCounts(of token: Subscription) -> BufferCounts {
    state.withLock { $0.input }?.bufferCounts ?? BufferCounts()
  }

  override func collectDrains(of token: Subscription, into drains: inout [Drain]) {
    guard let input = state.withLock({ $0.input }) else { return }
    input.host.collectDrains(of: input, into: &drains)
  }

  override func attach(_ counter: InFlightCounter, of token: Subscription) {
    if let input = state.withLock({ $0.input }) { input.host.attach(counter, of: input) }
  }

  override func collectSources(into sources: inout SharedSources) {
    state.withLock { $0.input }?.host.collectSources(into: &sources)
  }

  override func end(_ token: Subscription) {
    var (onEnd, input) = state.withLock { ($0.onEnd.take(), $0.input) }
    input?.invalidate()
    ReleaseChain.release(&onEnd)
  }

  override func end(_ token: Subscription, for group: WaitGroup) {
    let thread = ThreadID.current
    // Both are taken in one step, because `onEnd` could start between two steps.
    var (onEnd, input) = state.withLock { state in
      if let caller = state.caller, caller != thread {
        group.enter()
        state.groups.append(group)
      }
      return (state.onEnd.take(), state.input)
    }
    if let input { group.end(input) }
    ReleaseChain.release(&onEnd)
  }
}
