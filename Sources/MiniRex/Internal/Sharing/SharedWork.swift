/// Work that the first subscriber starts, all subscribers share, and the last cancellation stops.
package final class SharedWork<Update: Sendable>: Sendable {
  /// Starts the work, and returns the subscription that stops it.
  ///
  /// The captures of the inlet keep the run active. Releasing the last reference to the inlet ends
  /// the run without a result.
  package typealias Start = @Sendable (_ inlet: WorkInlet<Update>) -> Subscription

  private let start: Start
  private let lifetime: TaskLifetime
  private let remembersProgress: Bool
  private let current = Lock<WorkRun<Update>?>(nil)

  /// - Parameter remembersProgress: A Boolean value that indicates whether late subscribers receive
  ///   the latest progress first.
  package init(
    _ lifetime: TaskLifetime = .whileSubscribed, remembersProgress: Bool = true,
    start: @escaping Start
  ) {
    self.lifetime = lifetime
    self.remembersProgress = remembersProgress
    self.start = start
  }

  /// Creates work from subscriptions to other publishers.
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
    // A new run follows a run that ended without a result.
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
      // The run has just ended without a result. That cannot happen to the subscriber that started
      // it.
      membership.leave()
      return subscribe(receive)
    }
    membership.begin(inner)
    let token = Subscription(membership)
    if isFirst { run.attach(start(WorkInlet(run))) } else { run.waitUntilStarted() }
    return token
  }

  /// Removes a member.
  ///
  /// Called once per member, under its lock. Returns `true` if the run has no members left and must
  /// be canceled.
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
