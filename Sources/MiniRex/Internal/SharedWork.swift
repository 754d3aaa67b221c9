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
      // It has just ended without a result; who begins a run is in time for it.
      membership.leave()
      return subscribe(receive)
    }
    membership.begin(inner)
    let token = Subscription(membership)
    if isFirst { run.attach(start(WorkInlet(run))) }
    return token
  }

  /// Called once by each member.
  fileprivate func leave(_ run: WorkRun<Update>) {
    let mustCancel = current.withLock { current in
      guard run.leave(), lifetime == .whileSubscribed, !run.storage.hasFinished else {
        return false
      }
      if current === run { current = nil }
      return true
    }
    if mustCancel { run.cancel() }
  }
}

/// One run of shared work.
package final class WorkRun<Update: Sendable>: Sendable {
  /// - starting: the token of the work is not known yet. Next: working, or over.
  /// - working: Next: over.
  /// - over: finished, or cancelled; the token is ended.
  private enum Phase {
    case starting
    case working(Subscription)
    case over
  }

  private struct State {
    var phase = Phase.starting
    var members = 1
  }

  let storage: TaskStorage<Update>
  private let state = Lock(State())

  fileprivate init(remembersProgress: Bool) {
    storage = TaskStorage(remembersProgress: remembersProgress)
  }

  /// False if the run will have no result.
  fileprivate func join() -> Bool {
    if storage.hasFailedToFinish { return false }
    state.withLock { $0.members += 1 }
    return true
  }

  /// True if nobody is left.
  fileprivate func leave() -> Bool {
    state.withLock { state in
      state.members -= 1
      return state.members == 0
    }
  }

  fileprivate func attach(_ work: Subscription) {
    let isOver = state.withLock { state in
      guard case .starting = state.phase else { return true }
      state.phase = .working(work)
      return false
    }
    if isOver { work.invalidate() }
  }

  /// Whatever the work still produces is refused.
  fileprivate func cancel() {
    storage.end()
    complete()
  }

  fileprivate func complete() {
    let phase = state.withLock { state in
      let phase = state.phase
      state.phase = .over
      return phase
    }
    if case .working(let work) = phase { work.invalidate() }
  }
}

/// Where work reports and finishes.
package final class WorkInlet<Update: Sendable>: Sendable {
  private let run: WorkRun<Update>

  fileprivate init(_ run: WorkRun<Update>) {
    self.run = run
  }

  deinit {
    run.cancel()
  }

  package func report(_ progress: Update) {
    run.storage.report(progress)
  }

  /// Delivers the result, then ends the token of the work; false if the run is over.
  @discardableResult
  package func finish(_ result: Update) -> Bool {
    let isAccepted = run.storage.finish(result)
    if isAccepted { run.complete() }
    return isAccepted
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
  }

  private let state: Lock<State>

  init(of run: WorkRun<Update>, in work: SharedWork<Update>) {
    state = Lock(State(membership: (run, work)))
  }

  func begin(_ inner: Subscription) {
    state.withLock { $0.inner = inner }
  }

  func leave() {
    let membership = state.withLock { $0.membership.take() }
    if let (run, work) = membership { work.leave(run) }
  }

  override func isSubscribed(_ token: Subscription) -> Bool {
    state.withLock { $0.inner }?.isSubscribed ?? false
  }

  override func end(_ token: Subscription) {
    state.withLock { $0.inner }?.invalidate()
    leave()
  }

  override func end(
    _ token: Subscription, notifying resume: @escaping @Sendable () -> Void
  ) -> Bool {
    let inner = state.withLock { $0.inner }
    let mustWait = inner.map { $0.host.end($0, notifying: resume) } ?? false
    leave()
    return mustWait
  }
}
