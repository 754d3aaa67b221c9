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
    let membership = WorkMembership { step in
      if step == .leave { return self.leave(run) }
      run.cancel()
      return true
    }
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

  /// Called once by each member, under a lock of theirs; true if nobody is left, and the run has to
  /// be cancelled.
  private func leave(_ run: WorkRun<Update>) -> Bool {
    current.withLock { current in
      guard run.leave(), lifetime == .whileSubscribed, !run.storage.hasFinished else {
        return false
      }
      if current === run { current = nil }
      return true
    }
  }
}
