/// The membership of a subscriber in a run.
///
/// It releases the run when either of them ends, because a subscription retains no result.
///
/// It is not generic, for the same reason as `AnyDelivery`.
final class WorkMembership: SubscriptionHost {
  /// The requests to a run.
  enum Step {
    /// Passes backpressure on to the work.
    case passFlow
    /// Removes the member, under a lock.
    ///
    /// Returns `true` if the run must be canceled.
    case leave
    case cancel
    /// Lets the only member subscribe to the next task in place of the run.
    ///
    /// Returns `false` if the run must continue.
    case handOver(AnyObject)
  }

  /// One closure serves all requests, because each closure costs an allocation.
  typealias Leave = @Sendable (Step) -> Bool

  private struct State {
    var inner: Subscription?
    /// `nil` after the cancellation.
    var leave: Leave?
    /// The group that a repeated cancellation waits for.
    var group: WaitGroup?
  }

  private let state: Lock<State>

  init(leave: @escaping Leave) {
    state = Lock(State(leave: leave))
  }

  func begin(_ inner: Subscription) {
    state.withLock { $0.inner = inner }
  }

  /// Returns `true` if the run now ends, because its only member continues with the next task.
  func handOver(_ handover: AnyObject) -> Bool {
    state.withLock { $0.leave }?(.handOver(handover)) ?? false
  }

  func leave() {
    let current = WaitGroup.current
    // In one step, so that a second cancellation finds the group of the first.
    let (leave, isLast, group) = state.withLock { state -> (Leave?, Bool, WaitGroup?) in
      guard let leave = state.leave.take() else { return (nil, false, state.group) }
      if !leave(.leave) { return (leave, false, nil) }
      // A separate group, because two groups that share canceled work would wait for each other.
      let group = WaitGroup(requester: nil, childOf: current)
      // Immediately, so that a second cancellation does not find a group that is over.
      group.enter()
      state.group = group
      return (leave, true, group)
    }
    guard let group else { return }
    if isLast {
      group.capture { _ = leave?(.cancel) }
      group.leave()
    }
    current?.await(group)
  }

  func isSubscribed(_ token: Subscription) -> Bool {
    state.withLock { $0.inner }?.isSubscribed ?? false
  }

  func decisive(for token: Subscription) -> Subscription? { state.withLock { $0.inner } }

  func collectSources(into sources: inout SharedSources) {
    state.withLock { $0.inner }?.host.collectSources(into: &sources)
  }

  func bufferCounts(of token: Subscription) -> BufferCounts {
    (state.withLock { $0.inner }?.host as? AnyDelivery)?.inputCounts ?? BufferCounts()
  }

  func attach(_ counter: InFlightCounter, of token: Subscription) {
    let (inner, leave) = state.withLock { ($0.inner, $0.leave) }
    guard let inner, let leave else { return }
    (inner.host as? AnyDelivery)?.attachValve(counter, of: inner)
    _ = leave(.passFlow)
  }

  func end(_ token: Subscription) {
    let inner = state.withLock { $0.inner }
    inner?.invalidate()
    leave()
    // After the cancellation of the work, which must not continue before.
    inner?.detachFromRun()
  }

  func end(_ token: Subscription, for group: WaitGroup) {
    let inner = state.withLock { $0.inner }
    if let inner { group.end(inner) }
    leave()
    inner?.detachFromRun()
  }
}
