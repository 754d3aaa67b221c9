/// Carries updates, in order, to where the callback has to run: a queue, an actor, the main thread.
///
/// What waits is kept here rather than in the jobs of the queue, so that ending the subscription
/// releases it also when the queue never runs.
@usableFromInline
package final class Hop<Update: Sendable, Callback: Sendable>: Upstream, @unchecked Sendable {
  /// - resting: nothing waits and nothing runs. Next: scheduled or running.
  /// - scheduled: a job has been asked for, which will empty the queue. Next: running.
  /// - running: a callback runs; what comes meanwhile waits. Next: resting or scheduled.
  private enum Phase {
    case resting
    case scheduled
    case running
  }

  private struct State {
    var phase = Phase.resting
    /// `nil` once the subscription has ended.
    var callback: Callback?
    var queue = Queue<Update>()
    var input: Subscription?
    var inputHasEnded = false
  }

  private let state: Lock<State>
  private let schedule: @Sendable (Hop) -> Void

  /// - Parameter schedule: Asks for a job, in the right place, that calls ``run(calling:)``.
  package init(_ callback: Callback, schedule: @escaping @Sendable (Hop) -> Void) {
    state = Lock(State(callback: callback))
    self.schedule = schedule
  }

  /// Subscribes, and gives the token that ends both the way here and what waits here.
  ///
  /// - Parameters:
  ///   - isHere: True if this is the right place to call, and so to end.
  ///   - direct: Calls at once and returns true, if this is the right place to call.
  package func subscribe<Kind>(
    to publisher: Publisher<Update, Kind>,
    isHere: @escaping @Sendable () -> Bool = { false },
    direct: @escaping @Sendable (Hop, Update) -> Bool = { _, _ in false }
  ) -> Subscription {
    let token = Subscription(self)
    let sentinel = Sentinel { self.endInput(atOnce: isHere()) }
    let input = publisher.subscribe { update in
      withExtendedLifetime(sentinel) {
        if !direct(self, update) { self.receive(update) }
      }
    }
    let isOpen = state.withLock { state in
      if !state.inputHasEnded { state.input = input }
      return state.callback != nil
    }
    if !isOpen { input.invalidate() }
    return token
  }

  private func receive(_ update: Update) {
    let mustSchedule = state.withLock { state in
      guard state.callback != nil else { return false }
      state.queue.append(update)
      return wake(&state)
    }
    if mustSchedule { schedule(self) }
  }

  /// Calls without a job if nothing waits.
  ///
  /// For the right place only.
  ///
  /// - Returns: False if the update has to wait its turn.
  package func callDirectly(_ update: Update, _ call: (Callback, Update) -> Void) -> Bool {
    let callback: Callback? = state.withLock { state in
      guard state.phase == .resting, let callback = state.callback else { return nil }
      state.phase = .running
      return callback
    }
    guard let callback else { return false }
    call(callback, update)
    finish()
    return true
  }

  /// The job: calls with what waited when it began.
  package func run(calling call: (Callback, Update) -> Void) {
    var remaining = state.withLock { state in
      state.phase = .running
      return state.queue.count
    }
    while remaining > 0 {
      let next: (Callback, Update)? = state.withLock { state in
        guard let callback = state.callback, let update = state.queue.popFirst() else { return nil }
        return (callback, update)
      }
      guard let (callback, update) = next else { break }
      call(callback, update)
      remaining -= 1
    }
    finish()
  }

  private func finish() {
    var ended: Callback?
    let mustSchedule = state.withLock { state in
      state.phase = .resting
      if state.queue.count == 0, state.inputHasEnded { ended = state.callback.take() }
      return wake(&state)
    }
    withExtendedLifetime(ended) {}
    if mustSchedule { schedule(self) }
  }

  private func endInput(atOnce isHere: Bool) {
    var ended: Callback?
    let mustSchedule = state.withLock { state in
      state.inputHasEnded = true
      guard state.callback != nil, state.phase == .resting else { return false }
      if isHere {
        ended = state.callback.take()
        return false
      }
      state.phase = .scheduled
      return true
    }
    withExtendedLifetime(ended) {}
    if mustSchedule { schedule(self) }
  }

  private func wake(_ state: inout sending State) -> Bool {
    guard state.phase == .resting, state.queue.count > 0 else { return false }
    state.phase = .scheduled
    return true
  }

  override func isSubscribed(_ token: Subscription) -> Bool {
    state.withLock { $0.callback != nil }
  }

  override func end(_ token: Subscription) {
    // All of it is released when this returns, after the lock.
    let (_, _, input) = state.withLock { state in
      let queue = state.queue
      state.queue = Queue()
      return (state.callback.take(), queue, state.input.take())
    }
    input?.invalidate()
  }
}
