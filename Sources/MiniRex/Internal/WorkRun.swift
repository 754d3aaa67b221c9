/// One run of shared work.
@usableFromInline
package final class WorkRun<Update: Sendable>: Sendable {
  @usableFromInline let storage: TaskStorage<Update>
  private let state = Lock(RunState<Subscription, Joiner, Drain>(startedBy: .current))

  init(remembersProgress: Bool) {
    storage = TaskStorage(remembersProgress: remembersProgress)
  }

  /// False if the run will have no result.
  func join() -> Bool {
    if storage.hasFailedToFinish { return false }
    state.withLock { $0.members += 1 }
    return true
  }

  /// True if nobody is left.
  func leave() -> Bool {
    state.withLock { $0.leave() }
  }

  /// Returns when the work has started, so that whoever joins while another thread starts it misses
  /// nothing that is sent afterwards.
  ///
  /// What the start itself calls does not wait, nor does a thread for which the starting one waits.
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
    Drain.collect(leavers) { work.leave() }
    for drain in leavers { drain.comeBack() }
  }

  /// Delivers what is left, then ends the work.
  ///
  /// Those who wait for the start go on before: they may hold what a callback waits for.
  func end<Result>(delivering deliver: () -> Result) -> Result {
    let drain = Drain.current
    let (joiners, work) = state.withLock { state in
      if state.isStarting { drain?.expect() }
      let (joiners, work) = state.end(for: drain)
      joiners.forgetWaiting()
      return (joiners, work)
    }
    for joiner in joiners { joiner.parking.open() }
    let result = deliver()
    work?.leave()
    return result
  }

  /// Whatever the work still produces is refused.
  func cancel() {
    end { storage.end() }
  }
}

/// A thread that waits until the work has started.
struct Joiner: Sendable {
  let thread: ThreadID
  let parking = Parking()

  /// `nil` if the starter waits for this thread.
  init?(thread: ThreadID, waitingFor starter: ThreadID) {
    guard waitGraph.withLock({ $0.add(thread, waitingFor: starter) }) else { return nil }
    self.thread = thread
  }
}

/// Of all runs; taken under the lock of one of them.
private let waitGraph = Lock(WaitGraph())

extension [Joiner] {
  func forgetWaiting() {
    if isEmpty { return }
    waitGraph.withLock { graph in
      for joiner in self { graph.remove(joiner.thread) }
    }
  }
}

/// Where work reports and finishes.
@usableFromInline
package final class WorkInlet<Update: Sendable>: Sendable {
  @usableFromInline let run: WorkRun<Update>

  init(_ run: WorkRun<Update>) {
    self.run = run
  }

  deinit {
    run.cancel()
  }

  /// What is reported comes in the turns of the token's source.
  func follow(_ input: Subscription) -> Subscription {
    run.storage.delivery.follow(input)
    return input
  }

  /// Inlined, because what works may report often: a line of a program, a piece of a file.
  @inlinable
  package func report(_ progress: Update) {
    run.storage.report(progress)
  }

  /// Delivers the result, then ends the token of the work; false if the run is over.
  @discardableResult
  package func finish(_ result: Update) -> Bool {
    run.end { run.storage.finish(result) }
  }

  /// Ends the run without a result, after what has been reported by now and `last`.
  package func end(with last: Update? = nil) {
    run.end {
      if let last { run.storage.report(last) }
      run.storage.end()
    }
  }
}
