/// Work that the first subscriber starts, all subscribers share, and the last cancellation stops.
///
/// Unchecked: `start` is constant until `deinit`, and the other properties are constant.
package final class SharedWork<Update: Sendable>: @unchecked Sendable {
  /// Starts the work, and returns the subscription that stops it.
  ///
  /// The captures of the inlet keep the run active. Releasing the last reference to the inlet ends
  /// the run without a result.
  package typealias Start = @Sendable (_ inlet: WorkInlet<Update>) -> Subscription

  private struct Current: Sendable {
    var run: WorkRun<Update>?
    /// The chain that follows the next task of a run, which has handed that task over.
    var continuation: TaskContinuation<Update>?
  }

  private struct StartClosure: Sendable {
    let call: Start
  }

  private var start: StartClosure?
  private let lifetime: TaskLifetime
  private let remembersProgress: Bool
  private let current = Lock(Current())
  /// The time that the work outlasts its last subscriber, or `nil` to cancel it immediately.
  private let linger: Lingering.Wake?

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
    self.start = StartClosure(call: start)
  }

  /// The closure and the current run may own the next work of a chain.
  deinit {
    ReleaseChain.release(&start)
    var current: Current? = current.withLock { current in
      defer { current = Current() }
      return current
    }
    ReleaseChain.release(&current)
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
  var latest: Update? { current.withLock { $0.run }?.storage.current }

  package func subscribe(_ receive: @escaping @Sendable (Update) -> Void) -> Subscription {
    let forwarder = ForwardedCallback.forwarder(of: receive) as? TaskForwarder<Update>
    // A new run follows a run that ended without a result.
    var old: Current?
    let (run, continuation, isFirst) = current.withLock {
      current -> (WorkRun<Update>, TaskContinuation<Update>?, Bool) in
      if let run = current.run, run.join() { return (run, nil, false) }
      let run = WorkRun<Update>(
        remembersProgress: remembersProgress, forwarder: forwarder,
        lingering: linger.map(Lingering.init))
      old = current
      if current.continuation?.isValid == false { current.continuation = nil }
      current.run = run
      return (run, current.continuation, true)
    }
    withExtendedLifetime(old) {}
    let hasResumed = isFirst && continuation?.resume(run) == true
    let isForwarder = isFirst && forwarder != nil
    let membership = WorkMembership { step in
      switch step {
      case .passFlow: run.passFlow()
      case .leave: return self.leave(run, asForwarder: isForwarder)
      case .cancel: self.cancel(run)
      case .handOver(let handover): return self.handOver(run, handover)
      }
      return true
    }
    let sentinel = Sentinel { [weak membership] in membership?.leave() }
    let inner = run.storage.join { update in
      withExtendedLifetime(sentinel) { receive(update) }
    }
    guard let inner else {
      // The run has just ended without a result. That cannot happen to the subscriber that started
      // it, unless the run continued with a task that has ended.
      membership.leave()
      return isFirst ? .ended : subscribe(receive)
    }
    membership.begin(inner)
    let token = Subscription(membership)
    if !isFirst {
      run.waitUntilStarted()
    } else if !hasResumed, let start {
      run.attach(start.call(WorkInlet(run)))
    }
    return token
  }

  /// Removes a member.
  ///
  /// Called once per member, under its lock. Returns `true` if the run has no members left and must
  /// be canceled.
  private func leave(_ run: WorkRun<Update>, asForwarder isForwarder: Bool) -> Bool {
    current.withLock { current in
      guard run.leave(asForwarder: isForwarder), lifetime == .whileSubscribed,
        !run.storage.hasFinished
      else { return false }
      if current.run === run, linger == nil { current.run = nil }
      return true
    }
  }

  /// Lets the only member of the run continue in its place.
  ///
  /// Returns `false` if the run has other members, or updates that are not delivered, or if a chain
  /// follows an earlier run.
  private func handOver(_ run: WorkRun<Update>, _ handover: AnyObject) -> Bool {
    guard let handover = handover as? TaskHandover<Update>, handover.inlet.run === run else {
      return false
    }
    // The replaced state and task are released after the lock.
    let (isHandedOver, _, _) = current.withLock {
      current -> (Bool, Current?, NextTask<Update>?) in
      // A chain that still follows an earlier run shares its work with later subscribers.
      guard current.run === run, run.isOnlyForwarded, current.continuation?.isValid != true else {
        return (false, nil, nil)
      }
      defer { current = Current(run: nil, continuation: handover.continuation) }
      return (true, current, handover.continuation.willFollow(handover.task))
    }
    return isHandedOver
  }

  /// Cancels the run, immediately or after a time, unless a subscriber joins before.
  private func cancel(_ run: WorkRun<Update>) {
    guard let lingering = run.lingering else { return run.cancel() }
    lingering.begin {
      let isOver = self.current.withLock { current in
        guard run.isEmpty else { return false }
        if current.run === run { current.run = nil }
        return true
      }
      if isOver { run.cancel() }
    }
  }
}
