/// Carries updates, in order, to where the callback has to run: a queue, an actor, the main thread.
///
/// What waits is kept here rather than in the jobs of the queue, so that ending the subscription
/// releases it even when the queue never runs. Unchecked like every `SubscriptionHost`: its state
/// is in a `Lock`.
@usableFromInline
package final class Hop<Update: Sendable, Callback: Sendable>: SubscriptionHost, @unchecked Sendable
{
  /// - resting: nothing waits and nothing runs. Next: scheduled or running.
  /// - scheduled: a job has been asked for, which will empty the buffer. Next: running.
  /// - running: a callback runs; what comes meanwhile waits. Next: resting or scheduled.
  @usableFromInline
  enum Phase: Sendable {
    case resting
    case scheduled
    case running
  }

  @usableFromInline
  struct State: Sendable {
    @usableFromInline var phase = Phase.resting
    /// `nil` once the subscription has ended.
    @usableFromInline var callback: Callback?
    @usableFromInline var buffer: Buffer<Update>
    @usableFromInline var input: Subscription?
    @usableFromInline var inputHasEnded = false

    @inlinable
    init(_ callback: Callback, limit: BufferLimit) {
      self.callback = callback
      buffer = Buffer(limit: limit)
    }

    /// True if a job has to be asked for.
    @inlinable
    mutating func wake() -> Bool {
      guard phase == .resting, buffer.queue.count > 0 else { return false }
      phase = .scheduled
      return true
    }
  }

  @usableFromInline let state: Lock<State>
  @usableFromInline let schedule: @Sendable (Hop, _ isContinued: Bool) -> Void

  /// - Parameters:
  ///   - limit: How much may wait.
  ///   - schedule: Asks for a job, in the right place, that calls ``run(calling:)``: at once if this
  ///     is the right place, unless the job is continued, which would nest without end.
  @inlinable
  package init(
    _ callback: Callback, limit: BufferLimit,
    schedule: @escaping @Sendable (Hop, _ isContinued: Bool) -> Void
  ) {
    state = Lock(State(callback, limit: limit))
    self.schedule = schedule
  }

  /// Subscribes, and gives the token that ends both the way here and what waits here.
  @inlinable
  package func subscribe<Kind>(to publisher: Publisher<Update, Kind>) -> Subscription {
    let token = Subscription(self)
    let sentinel = Sentinel { self.endInput() }
    let watch = BufferWatch(publisher.lineage)?.measuring { [weak self] in self?.counts }
    join(
      publisher.follow { update in
        withExtendedLifetime(sentinel) { self.receive(update) }
        watch?.look(self.counts)
      })
    return token
  }

  @inlinable
  func join(_ input: Subscription) {
    let isOpen = state.withLock { state in
      if !state.inputHasEnded { state.input = input }
      return state.callback != nil
    }
    if !isOpen { input.invalidate() }
  }

  @inlinable
  func receive(_ update: Update) {
    // What it pushes out is released when this returns, after the lock.
    let (mustSchedule, _) = state.withLock { state -> (Bool, Update?) in
      guard state.callback != nil else { return (false, nil) }
      let dropped = state.buffer.append(update)
      return (state.wake(), dropped)
    }
    if mustSchedule { schedule(self, false) }
  }

  /// The job: calls with what waits, and with what its own callbacks send, for a while.
  @inlinable
  package func run(calling call: (Callback, Update) -> Void) {
    state.withLock { $0.phase = .running }
    for _ in 0..<Schedule.patience {
      let next: (Callback, Update)? = state.withLock { state in
        guard let callback = state.callback, let update = state.buffer.queue.popFirst() else {
          return nil
        }
        return (callback, update)
      }
      guard let (callback, update) = next else { break }
      call(callback, update)
    }
    rest()
  }

  /// The end of a job.
  @inlinable
  func rest() {
    var ended: Callback?
    let isContinued = state.withLock { state in
      state.phase = .resting
      if state.buffer.queue.count == 0, state.inputHasEnded { ended = state.callback.take() }
      return state.wake()
    }
    ReleaseChain.release(&ended)
    if isContinued { schedule(self, true) }
  }

  @inlinable
  func endInput() {
    let mustSchedule = state.withLock { state in
      state.inputHasEnded = true
      guard state.callback != nil, state.phase == .resting else { return false }
      state.phase = .scheduled
      return true
    }
    if mustSchedule { schedule(self, false) }
  }

  @usableFromInline var counts: BufferCounts { state.withLock { $0.buffer.counts } }

  override func bufferCounts(of token: Subscription) -> BufferCounts {
    let (counts, input) = state.withLock { ($0.buffer.counts, $0.input) }
    return input.map { counts + $0.bufferCounts } ?? counts
  }

  override func isSubscribed(_ token: Subscription) -> Bool {
    state.withLock { $0.callback != nil }
  }

  override func end(_ token: Subscription) {
    var callback: Callback?
    var waiting = Optional(Queue<Update>())
    let input = state.withLock { state in
      callback = state.callback.take()
      waiting = state.buffer.takeAll()
      return state.input
    }
    input?.leave()
    ReleaseChain.release(&callback)
    ReleaseChain.release(&waiting)
  }
}
