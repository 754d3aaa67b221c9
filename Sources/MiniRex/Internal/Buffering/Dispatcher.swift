/// Dispatches updates, in order, to the place of the callback: a queue, an actor, or the main
/// thread.
///
/// It stores the queued updates, not the jobs of the queue, so that canceling the subscription
/// releases them even if the queue never runs. Unchecked like every `SubscriptionHost`: a `Lock`
/// guards its state.
@usableFromInline
package final class Dispatcher<Update: Sendable, Callback: Sendable>: SubscriptionHost,
  @unchecked Sendable
{
  /// - resting: the buffer is empty, and no callback runs. → scheduled, running
  /// - scheduled: a job is enqueued, which will empty the buffer. → running
  /// - running: a callback runs, and new updates are queued. → resting, scheduled
  @usableFromInline
  enum Phase: Sendable {
    case resting
    case scheduled
    case running
  }

  @usableFromInline
  struct State: Sendable {
    @usableFromInline var phase = Phase.resting
    /// `nil` after the subscription ends.
    @usableFromInline var callback: Callback?
    @usableFromInline var buffer: Buffer<Update>
    @usableFromInline var input: Subscription?
    @usableFromInline var inputHasEnded = false

    @inlinable
    init(_ callback: Callback, limit: BufferLimit) {
      self.callback = callback
      buffer = Buffer(limit: limit)
    }

    /// Returns `true` if the caller must enqueue a job.
    @inlinable
    mutating func wake() -> Bool {
      guard phase == .resting, buffer.queue.count > 0 else { return false }
      phase = .scheduled
      return true
    }
  }

  @usableFromInline let state: Lock<State>
  @usableFromInline let schedule: @Sendable (Dispatcher, _ isContinued: Bool) -> Void

  /// - Parameters:
  ///   - limit: The bound of the buffer.
  ///   - schedule: A closure that enqueues a job, which calls ``run(calling:)``. It runs the job
  ///     synchronously if it is already in the right place, except for a continued job, which would
  ///     nest without end.
  @inlinable
  package init(
    _ callback: Callback, limit: BufferLimit,
    schedule: @escaping @Sendable (Dispatcher, _ isContinued: Bool) -> Void
  ) {
    state = Lock(State(callback, limit: limit))
    self.schedule = schedule
  }

  /// Subscribes, and returns the subscription that cancels the input and releases the queued
  /// updates.
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
    // The dropped update is released after the lock, when this function returns.
    let (mustSchedule, _) = state.withLock { state -> (Bool, Update?) in
      guard state.callback != nil else { return (false, nil) }
      let dropped = state.buffer.append(update)
      return (state.wake(), dropped)
    }
    if mustSchedule { schedule(self, false) }
  }

  /// Runs a job: delivers the queued updates and the updates that its callbacks send, up to a
  /// limit.
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

  /// Ends a job.
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
