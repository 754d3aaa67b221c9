/// Work that starts with the first subscriber, is shared by all, and stops when the last leaves.
package final class SharedWork<Update: Sendable>: Sendable {
  /// Starts the work, and gives the token that stops it.
  ///
  /// What has captured the inlet keeps the run going: when the last reference to it goes, the run
  /// ends without a result.
  package typealias Start = @Sendable (_ inlet: WorkInlet<Update>) -> Subscription

  private let start: Start
  private let lifetime: TaskLifetime
  private let remembersProgress: Bool
  private let current = Lock<WorkRun<Update>?>(nil)

  /// - Parameter remembersProgress: Whether those who join late get the latest progress first.
  package init(
    _ lifetime: TaskLifetime = .whileSubscribed, remembersProgress: Bool = true,
    start: @escaping Start
  ) {
    self.lifetime = lifetime
    self.remembersProgress = remembersProgress
    self.start = start
  }

  /// Makes work of subscriptions to other publishers.
  package convenience init(
    subscribing start: @escaping @Sendable (WorkInlet<Update>, SubscriptionBag) -> Void
  ) {
    self.init { inlet in
      let bag = SubscriptionBag()
      start(inlet, bag)
      return Subscription { bag.invalidate() }
    }
  }

  /// The latest progress of the current run, or its result.
  var latest: Update? { current.withLock { $0 }?.storage.current }

  package func subscribe(_ receive: @escaping @Sendable (Update) -> Void) -> Subscription {
    // A run that is over without a result is followed by a fresh one.
    var old: WorkRun<Update>?
    let (run, isFirst) = current.withLock { current -> (WorkRun<Update>, Bool) in
      if let run = current, run.join() { return (run, false) }
      let run = WorkRun<Update>(remembersProgress: remembersProgress)
      old = current
      current = run
      return (run, true)
    }
    withExtendedLifetime(old) {}
    let membership = WorkMembership(of: run, in: self)
    let sentinel = Sentinel { [weak membership] in membership?.leave() }
    let inner = run.storage.join { update in
      withExtendedLifetime(sentinel) { receive(update) }
    }
    guard let inner else {
      // The run has just ended without a result. That cannot happen to whoever begins a run.
      membership.leave()
      return subscribe(receive)
    }
    membership.begin(inner)
    let token = Subscription(membership)
    if isFirst { run.attach(start(WorkInlet(run))) } else { run.waitUntilStarted() }
    return token
  }

  /// Called once by each member.
  ///
  /// - Returns: True if the run has to be cancelled.
  fileprivate func leave(_ run: WorkRun<Update>) -> Bool {
    current.withLock { current in
      guard run.leave(), lifetime == .whileSubscribed, !run.storage.hasFinished else {
        return false
      }
      if current === run { current = nil }
      return true
    }
  }
}

/// A subscriber of a run, which lets go of it when either of them ends: a token keeps no result.
///
/// Unchecked like every `SubscriptionHost`: its state is in a `Lock`.
private final class WorkMembership<Update: Sendable>: SubscriptionHost, @unchecked Sendable {
  private struct State {
    var inner: Subscription?
    /// `nil` once it has left.
    var membership: (run: WorkRun<Update>, work: SharedWork<Update>)?
    /// What whoever ends the token once more has to wait for.
    var drain: Drain?
  }

  private let state: Lock<State>

  init(of run: WorkRun<Update>, in work: SharedWork<Update>) {
    state = Lock(State(membership: (run, work)))
  }

  func begin(_ inner: Subscription) {
    state.withLock { $0.inner = inner }
  }

  func leave() {
    let current = Drain.current
    let (membership, earlier) = state.withLock { state in
      let (membership, earlier) = (state.membership.take(), state.drain)
      if membership != nil { state.drain = current }
      return (membership, earlier)
    }
    if let earlier { current?.await(earlier) }
    guard let (run, work) = membership, work.leave(run) else { return }
    let drain = current ?? Drain()
    state.withLock { $0.drain = drain }
    drain.collect { run.cancel() }
  }

  override func isSubscribed(_ token: Subscription) -> Bool {
    state.withLock { $0.inner }?.isSubscribed ?? false
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
