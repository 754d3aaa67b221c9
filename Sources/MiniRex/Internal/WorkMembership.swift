/// A subscriber of a run, which lets go of it when either of them ends: a token keeps no result.
///
/// It is not generic, for the reason that `AnyDelivery` is not. Unchecked like every
/// `SubscriptionHost`: its state is in a `Lock`.
final class WorkMembership: SubscriptionHost, @unchecked Sendable {
  /// What it asks the run for, one after the other.
  enum Step {
    /// To count it out, under a lock: true if nobody is left, so that the run has to be cancelled.
    case leave
    case cancel
  }

  /// It has one closure for both, because each costs an allocation.
  typealias Leave = @Sendable (Step) -> Bool

  private struct State {
    var inner: Subscription?
    /// `nil` once it has left.
    var leave: Leave?
    /// What whoever ends the token once more has to wait for.
    var drain: Drain?
  }

  private let state: Lock<State>

  init(leave: @escaping Leave) {
    state = Lock(State(leave: leave))
  }

  func begin(_ inner: Subscription) {
    state.withLock { $0.inner = inner }
  }

  func leave() {
    let current = Drain.current
    // One look for all: whoever comes second finds what the first one has left.
    let (leave, isLast, drain) = state.withLock { state -> (Leave?, Bool, Drain?) in
      guard let leave = state.leave.take() else { return (nil, false, state.drain) }
      if !leave(.leave) { return (leave, false, nil) }
      // One of its own: two that end what both have left would else wait for each other.
      state.drain = Drain(asker: nil, partOf: current)
      return (leave, true, state.drain)
    }
    guard let drain else { return }
    if isLast { drain.collect { _ = leave?(.cancel) } }
    current?.await(drain)
  }

  override func isSubscribed(_ token: Subscription) -> Bool {
    state.withLock { $0.inner }?.isSubscribed ?? false
  }

  override func tellOrigins(to origins: inout Origins) {
    state.withLock { $0.inner }?.host.tellOrigins(to: &origins)
  }

  override func end(_ token: Subscription) {
    state.withLock { $0.inner }?.invalidate()
    leave()
  }

  override func end(_ token: Subscription, for drain: Drain) {
    if let inner = state.withLock({ $0.inner }) { drain.end(inner) }
    leave()
  }
}
