/// Counts the updates of an asynchronous callback, for calls of `drained()`.
///
/// An update that is on its way from the buffer to the callback is in neither of them, so the counts
/// of the buffer do not suffice. A `Lock` guards its state.
final class CallCounter: Sendable {
  private struct State {
    /// The updates that have arrived.
    var added = 0
    /// The updates for which the callback has returned.
    var finished = 0
    var isOver = false
    /// Each call of `drained()`, with the count of finished and older dropped updates that ends it.
    var waiters: [(target: Int, call: WaitingCall)] = []
    /// Returns the number of dropped updates.
    var dropped: (@Sendable () -> Int)?
  }

  private let state = Lock(State())
  /// A Boolean value that indicates whether the policy drops updates that a waiter waits for.
  ///
  /// Another policy drops newer updates only.
  private let dropsOldest: Bool

  init(dropsOldest: Bool) {
    self.dropsOldest = dropsOldest
  }

  func count<Update>(in updates: ValuesSubscription<Update>) {
    state.withLock { state in
      state.dropped = { [weak updates] in updates?.buffer.counts.dropped ?? 0 }
    }
  }

  func add() {
    state.withLock { $0.added += 1 }
  }

  func finishOne() {
    state.withLock { $0.finished += 1 }
    check()
  }

  /// Resumes the calls whose updates have finished or were dropped.
  func check() {
    guard let dropped = state.withLock({ $0.waiters.isEmpty ? nil : $0.dropped }) else { return }
    let droppedCount = dropsOldest ? dropped() : 0
    let done = state.withLock { state in
      let done = state.waiters.filter { $0.target <= state.finished + droppedCount }
      state.waiters.removeAll { $0.target <= state.finished + droppedCount }
      return done
    }
    for waiter in done { waiter.call.resume() }
  }

  /// Resumes all calls after a cancellation, which drops the updates.
  func finishAll() {
    let waiters = state.withLock { state in
      defer { state.waiters = [] }
      state.isOver = true
      return state.waiters
    }
    for waiter in waiters { waiter.call.resume() }
  }

  func drained() async {
    let dropped = state.withLock { $0.dropped }?() ?? 0
    let call = WaitingCall()
    let mustWait = state.withLock { state in
      let target = dropsOldest ? state.added : state.added - dropped
      let done = dropsOldest ? state.finished + dropped : state.finished
      if state.isOver || done >= target { return false }
      state.waiters.append((target, call))
      return true
    }
    if mustWait { await call.wait() }
  }
}
