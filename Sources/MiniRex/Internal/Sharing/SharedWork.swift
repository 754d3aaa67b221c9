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
  /// Runs a closure some time after the last cancellation, or `nil` to cancel the work immediately.
  private let linger: (@Sendable (@escaping @Sendable () -> Void) -> Subscription)?
  private let lingering = Lock(Lingering())

  private struct Lingering: Sendable {
    /// The number of the valid timer.
    var number = 0
    var timer: Subscription?
  }

  /// - Parameter remembersProgress: A Boolean value that indicates whether late subscribers receive
  ///   the latest progress first.
  /// - Parameter linger: Runs a closure after the time that the work outlasts its last subscriber.
  ///   By default, the work is canceled immediately.
  package init(
    _ lifetime: TaskLifetime = .whileSubscribed, remembersProgress: Bool = true,
    lingering linger: (@Sendable (@escaping @Sendable () -> Void) -> Subscription)? = nil,
    start: @escaping Start
  ) {
    self.lifetime = lifetime
    self.linger = linger
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
      switch step {
      case .passFlow: run.passFlow()
      case .leave: return self.leave(run)
      case .cancel: if self.linger == nil { run.cancel() } else { self.cancelLater(run) }
      }
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
      if current === run, linger == nil { current = nil }
      return true
    }
  }

  /// Cancels the run after a time, unless a subscriber joins before.
  ///
  /// The clock is user code, so it is called outside every lock.
  private func cancelLater(_ run: WorkRun<Update>) {
    guard let linger, !run.storage.hasFailedToFinish else { return run.cancel() }
    let (number, replaced) = lingering.withLock { lingering in
      lingering.number += 1
      return (lingering.number, lingering.timer.take())
    }
    replaced?.invalidate()
    let timer = linger { self.expire(run, number) }
    let isValid = lingering.withLock { lingering in
      guard lingering.number == number else { return false }
      lingering.timer = timer
      return true
    }
    if !isValid { timer.invalidate() }
  }

  private func expire(_ run: WorkRun<Update>, _ number: Int) {
    let (isValid, timer) = lingering.withLock { lingering -> (Bool, Subscription?) in
      guard lingering.number == number else { return (false, nil) }
      lingering.number += 1
      return (true, lingering.timer.take())
    }
    guard isValid else { return }
    withExtendedLifetime(timer) {}
    let isOver = current.withLock { current in
      guard run.isEmpty else { return false }
      if current === run { current = nil }
      return true
    }
    if isOver { run.cancel() }
  }
}
