/// One run of shared work.
@usableFromInline
package final class WorkRun<Update: Sendable>: Sendable {
  @usableFromInline let storage: TaskStorage<Update>
  private let state = Lock(RunState<Subscription, Joiner, WaitGroup>(startedBy: .current))

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

  /// Blocks until the work has started, so that a subscriber that joins during the start on another
  /// thread misses no later update.
  ///
  /// The start itself does not wait, and neither does a thread that the starting thread waits for.
  func waitUntilStarted() {
    let thread = ThreadID.current
    let joiner: Joiner? = state.withLock { state in
      guard let starter = state.starter(for: thread),
        let joiner = Joiner(thread: thread, waitingFor: starter)
      else { return nil }
      state.joiners.append(joiner)
      return joiner
    }
    joiner?.parking.wait()
  }

  func attach(_ work: Subscription) {
    let (joiners, leavers) = state.withLock { state in
      let (joiners, leavers) = state.attach(work)
      joiners.forgetWaiting()
      return (joiners, leavers)
    }
    for joiner in joiners { joiner.parking.open() }
    guard let leavers else { return }
    WaitGroup.capture(leavers) { work.leave() }
    for group in leavers { group.leave() }
  }

  /// Delivers the remaining updates, then ends the work.
  ///
  /// Threads that wait for the start resume first, because a callback may wait for them.
  func end<Result>(delivering deliver: () -> Result) -> Result {
    let group = WaitGroup.current
    let (joiners, work) = state.withLock { state in
      if state.isStarting { group?.enter() }
      let (joiners, work) = state.end(for: group)
      joiners.forgetWaiting()
      return (joiners, work)
    }
    for joiner in joiners { joiner.parking.open() }
    let result = deliver()
    work?.leave()
    return result
  }

  /// Cancels the run.
  ///
  /// Further updates of the work are ignored.
  func cancel() {
    end { storage.end() }
  }
}

/// A thread that waits until the work has started.
struct Joiner: Sendable {
  let thread: ThreadID
  let parking = Parking()

  /// Returns `nil` if the starter waits for this thread.
  init?(thread: ThreadID, waitingFor starter: ThreadID) {
    guard waitGraph.withLock({ $0.add(thread, waitingFor: starter) }) else { return nil }
    self.thread = thread
  }
}

/// The relation covers all runs.
///
/// It is used under the lock of one of them.
private let waitGraph = Lock(WaitForGraph())

extension [Joiner] {
  func forgetWaiting() {
    if isEmpty { return }
    waitGraph.withLock { graph in
      for joiner in self { graph.remove(joiner.thread) }
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
