/// Carries updates, in order, to where the callback has to run: a queue, an actor, the main thread.
///
/// What waits is kept here rather than in the jobs of the queue, so that ending the subscription
/// releases it even when the queue never runs. Unchecked like every `SubscriptionHost`: its state
/// is in a `Lock`.
@usableFromInline
package final class Hop<Update: Sendable, Callback: Sendable>: SubscriptionHost, @unchecked Sendable
{
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
  private let schedule: @Sendable (Hop, _ isContinued: Bool) -> Void

  /// - Parameter schedule: Asks for a job, in the right place, that calls ``run(calling:)``: at
  ///   once if this is the right place, unless the job is continued, which would nest without end.
  package init(
    _ callback: Callback, schedule: @escaping @Sendable (Hop, _ isContinued: Bool) -> Void
  ) {
    state = Lock(State(callback: callback))
    self.schedule = schedule
  }

  /// Subscribes, and gives the token that ends both the way here and what waits here.
  package func subscribe<Kind>(to publisher: Publisher<Update, Kind>) -> Subscription {
    let token = Subscription(self)
    let sentinel = Sentinel { self.endInput() }
    let input = publisher.follow { update in
      withExtendedLifetime(sentinel) { self.receive(update) }
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
    if mustSchedule { schedule(self, false) }
  }

  /// The job: calls with what waits, and with what its own callbacks send, for a while.
  package func run(calling call: (Callback, Update) -> Void) {
    state.withLock { $0.phase = .running }
    for _ in 0..<Schedule.patience {
      let next: (Callback, Update)? = state.withLock { state in
        guard let callback = state.callback, let update = state.queue.popFirst() else { return nil }
        return (callback, update)
      }
      guard let (callback, update) = next else { break }
      call(callback, update)
    }
    var ended: Callback?
    let isContinued = state.withLock { state in
      state.phase = .resting
      if state.queue.count == 0, state.inputHasEnded { ended = state.callback.take() }
      return wake(&state)
    }
    withExtendedLifetime(ended) {}
    if isContinued { schedule(self, true) }
  }

  private func endInput() {
    let mustSchedule = state.withLock { state in
      state.inputHasEnded = true
      guard state.callback != nil, state.phase == .resting else { return false }
      state.phase = .scheduled
      return true
    }
    if mustSchedule { schedule(self, false) }
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
