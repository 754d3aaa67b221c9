/// A thread that waits until a run has started.
struct StartWaiter: Sendable {
  fileprivate let thread: ThreadID
  fileprivate let parking = Parking()

  /// Appends the waiter to `waiters`.
  ///
  /// Returns `nil` if the starting thread waits for this thread.
  init?(_ thread: ThreadID, waitingFor starter: ThreadID, in waiters: inout [StartWaiter]) {
    guard waitGraph.withLock({ $0.add(thread, waitingFor: starter) }) else { return nil }
    self.thread = thread
    waiters.append(self)
  }
}

/// The relation covers all runs.
///
/// It is used under the lock of one of them.
private let waitGraph = Lock(WaitForGraph())

extension Lock {
  /// Blocks until the run has started, so that a subscriber that joins during the start on another
  /// thread misses no later update.
  ///
  /// The start itself does not wait, and neither does a thread that the starting thread waits for.
  ///
  /// - Parameter add: A closure that adds the thread, unless the run has started.
  func waitForStart(_ add: (inout State, ThreadID) -> StartWaiter?) {
    let thread = ThreadID.current
    withLock { add(&$0, thread) }?.parking.wait()
  }

  /// Takes the waiters and another result out of the state, and resumes the waiters after the lock.
  func resumeWaiters<Result: Sendable>(
    _ take: (inout State) -> ([StartWaiter], Result)
  ) -> Result {
    let (waiters, result) = withLock { state in
      let (waiters, result) = take(&state)
      if !waiters.isEmpty {
        waitGraph.withLock { graph in
          for waiter in waiters { graph.remove(waiter.thread) }
        }
      }
      return (waiters, result)
    }
    for waiter in waiters { waiter.parking.open() }
    return result
  }
}
