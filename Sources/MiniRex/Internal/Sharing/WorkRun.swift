/// The state of a run of shared work.
///
/// It is not generic, because generic code would look up its type at each use.
private struct WorkRunState {
  var run = RunState<Subscription, StartWaiter, WaitGroup>(startedBy: .current)
  /// The first member, if it only forwards the updates to another run.
  ///
  /// It is released with the callbacks of the run, so that the other run can end.
  var forwarder: (any AnyObject & Sendable)?
  /// `false` after that member has canceled.
  var hasForwarder: Bool
}

/// One run of shared work.
@usableFromInline
package final class WorkRun<Update: Sendable>: Sendable {
  @usableFromInline let storage: TaskStorage<Update>
  private let state: Lock<WorkRunState>
  /// The timer of a run that outlasts its last subscriber.
  let lingering: Lingering?

  init(remembersProgress: Bool, forwarder: TaskForwarder<Update>?, lingering: Lingering?) {
    storage = TaskStorage(remembersProgress: remembersProgress)
    state = Lock(WorkRunState(forwarder: forwarder, hasForwarder: forwarder != nil))
    self.lingering = lingering
  }

  /// Returns `false` if the run will have no result.
  func join() -> Bool {
    if storage.hasFailedToFinish { return false }
    state.withLock { $0.run.members += 1 }
    return true
  }

  /// Returns `true` if no member is left.
  func leave(asForwarder isForwarder: Bool) -> Bool {
    state.withLock { state in
      if isForwarder { state.hasForwarder = false }
      return state.run.leave()
    }
  }

  var isEmpty: Bool { state.withLock { $0.run.members == 0 } }

  /// The member that forwards the updates to another run, until it cancels.
  var forwarder: TaskForwarder<Update>? {
    state.withLock { $0.hasForwarder ? $0.forwarder : nil } as? TaskForwarder<Update>
  }

  /// `true` if that is the only member, and has received all updates.
  var isOnlyForwarded: Bool {
    state.withLock { $0.hasForwarder && $0.run.members == 1 } && storage.delivery.isIdle
  }

  func waitUntilStarted() {
    state.waitForStart { state, thread in
      guard let starter = state.run.starter(for: thread) else { return nil }
      return StartWaiter(thread, waitingFor: starter, in: &state.run.joiners)
    }
  }

  func attach(_ work: Subscription) {
    let leavers = state.resumeWaiters { $0.run.attach(work) }
    guard let leavers else {
      // A subscriber may have attached its counter during the start.
      if storage.delivery.valve != nil { passFlow() }
      return
    }
    WaitGroup.capture(leavers) { work.leave() }
    for group in leavers { group.leave() }
  }

  /// Passes the holds of the subscribers on to the work, once it has started.
  func passFlow() {
    let work = state.withLock { state -> Subscription? in
      if case .working(let work) = state.run.phase { work } else { nil }
    }
    guard let work, let relay = storage.delivery.valve?.makeRelay() else { return }
    work.host.attach(relay, of: work)
    relay.check()
  }

  /// Marks the run as over.
  ///
  /// Threads that wait for the start resume before the last update, because a callback may wait for
  /// them.
  private func close() -> Subscription? {
    let group = WaitGroup.current
    return state.resumeWaiters { state in
      if state.run.isStarting { group?.enter() }
      return state.run.end(for: group)
    }
  }

  /// Cancels the subscription of the work, after the last update.
  private func stop(_ work: Subscription?) {
    // The work may be the next run of a chain.
    if let work {
      ReleaseChain.run {
        work.leave()
      } later: {
        { work.leave() }
      }
    }
    storage.delivery.valve?.end()
    lingering?.end()
    withExtendedLifetime(state.withLock { $0.forwarder.take() }) {}
  }

  /// Cancels the run.
  ///
  /// Further updates of the work are ignored.
  func cancel() { end() }

  /// Delivers the remaining updates and `last`, then ends the work.
  func end(with last: Update? = nil) {
    let work = close()
    if let last { storage.report(last) }
    storage.end()
    stop(work)
  }

  /// Delivers the result, then ends the work.
  ///
  /// Returns `false` if the run is over.
  func finish(_ result: Update) -> Bool {
    let work = close()
    let (isAccepted, turn) = storage.accept(result)
    // A callback may finish the next run of a chain.
    ReleaseChain.run {
      storage.deliver(result, turn)
      stop(work)
    } later: {
      {
        self.storage.deliver(result, turn)
        self.stop(work)
      }
    }
    return isAccepted
  }

  /// Delivers progress of another run.
  func relay(_ progress: Update) {
    // A callback may report to the next run of a chain.
    ReleaseChain.run {
      storage.report(progress)
    } later: {
      guard let turn = storage.accept(progress: progress) else { return nil }
      return { self.storage.deliver(progress: progress, turn) }
    }
  }
}

/// The entry through which work reports and finishes.
@usableFromInline
package final class WorkInlet<Update: Sendable>: Sendable {
  @usableFromInline let run: WorkRun<Update>

  init(_ run: WorkRun<Update>) {
    self.run = run
  }

  deinit {
    run.cancel()
  }

  /// Declares that reports are made in the turns of the source of the subscription.
  @usableFromInline
  func follow(_ input: Subscription) -> Subscription {
    run.storage.delivery.follow(input)
    return input
  }

  /// Inlined, because work may report often: each line of a process, each piece of a file.
  @inlinable
  package func report(_ progress: Update) {
    run.storage.report(progress)
  }

  /// Reports progress of another run, which may be part of a long chain.
  func relay(_ progress: Update) { run.relay(progress) }

  /// Delivers the result, then cancels the subscription of the work.
  ///
  /// Returns `false` if the run is over.
  @discardableResult
  package func finish(_ result: Update) -> Bool { run.finish(result) }

  /// Ends the run without a result, after all reported updates and `last`.
  package func end(with last: Update? = nil) { run.end(with: last) }
}
