/// One run of shared work.
@usableFromInline
package final class WorkRun<Update: Sendable>: Sendable {
  @usableFromInline let storage: TaskStorage<Update>
  private let state = Lock(RunState<Subscription, StartWaiter, WaitGroup>(startedBy: .current))

  init(remembersProgress: Bool) {
    storage = TaskStorage(remembersProgress: remembersProgress)
  }

  /// Returns `false` if the run will have no result.
  func join() -> Bool {
    if storage.hasFailedToFinish { return false }
    state.withLock { $0.members += 1 }
    return true
  }

  /// Returns `true` if no member is left.
  func leave() -> Bool {
    state.withLock { $0.leave() }
  }

  var isEmpty: Bool { state.withLock { $0.members == 0 } }

  func waitUntilStarted() {
    state.waitForStart { state, thread in
      guard let starter = state.starter(for: thread) else { return nil }
      return StartWaiter(thread, waitingFor: starter, in: &state.joiners)
    }
  }

  func attach(_ work: Subscription) {
    let leavers = state.resumeWaiters { $0.attach(work) }
    guard let leavers else {
      // A subscriber may have attached its counter during the start.
      if storage.delivery.gate != nil { passFlow() }
      return
    }
    WaitGroup.capture(leavers) { work.leave() }
    for group in leavers { group.leave() }
  }

  /// Passes the holds of the subscribers on to the work, once it has started.
  func passFlow() {
    let work = state.withLock { state -> Subscription? in
      if case .working(let work) = state.phase { work } else { nil }
    }
    guard let work, let relay = storage.delivery.gate?.makeRelay() else { return }
    work.host.attach(relay, of: work)
    relay.check()
  }

  /// Delivers the remaining updates, then ends the work.
  ///
  /// Threads that wait for the start resume first, because a callback may wait for them.
  func end<Result>(delivering deliver: () -> Result) -> Result {
    let group = WaitGroup.current
    let work = state.resumeWaiters { state in
      if state.isStarting { group?.enter() }
      return state.end(for: group)
    }
    let result = deliver()
    work?.leave()
    storage.delivery.gate?.end()
    return result
  }

  /// Cancels the run.
  ///
  /// Further updates of the work are ignored.
  func cancel() {
    end { storage.end() }
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

  /// Delivers the result, then cancels the subscription of the work.
  ///
  /// Returns `false` if the run is over.
  @discardableResult
  package func finish(_ result: Update) -> Bool {
    run.end { run.storage.finish(result) }
  }

  /// Ends the run without a result, after all reported updates and `last`.
  package func end(with last: Update? = nil) {
    run.end {
      if let last { run.storage.report(last) }
      run.storage.end()
    }
  }
}
