/// Dispatches updates, in order, to the place of the callback: a queue, an actor, or the main
/// thread.
///
/// It stores the queued updates, not the jobs of the queue, so that canceling the subscription
/// releases them even if the queue never runs.
@usableFromInline
package final class Dispatcher<Update: Sendable, Callback: Sendable>: SubscriptionHost {
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
    @usableFromInline var buffer: Buffer<Carried<Update>>
    @usableFromInline var input: Subscription?
    @usableFromInline var inputHasEnded = false
    /// The carried values of the sender that finished the input.
    @usableFromInline var endValues: CarriedValues?
    /// The counters of this dispatch and of the suspending subscribers behind it.
    @usableFromInline var counters: [InFlightCounter] = []
    @usableFromInline var drains = DrainWaiters()
    @usableFromInline var endCalls = EndCalls()
    /// `true` while `onEnd` runs and the callback is released, after the last update.
    @usableFromInline var isFinishing = false

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
  /// The counter of its own limit, if that suspends senders.
  @usableFromInline let counter: InFlightCounter?

  /// - Parameters:
  ///   - limit: The bound of the buffer.
  ///   - place: The place that ``BroadcastSource/slowSubscribers`` shows.
  ///   - schedule: A closure that enqueues a job, which calls ``run(calling:)``. It runs the job
  ///     synchronously if it is already in the right place, except for a continued job, which would
  ///     nest without end.
  @inlinable
  package init(
    _ callback: Callback, limit: BufferLimit, at place: CodePlace? = nil,
    schedule: @escaping @Sendable (Dispatcher, _ isContinued: Bool) -> Void
  ) {
    counter = InFlightCounter(limit, at: place)
    state = Lock(State(callback, limit: limit))
    self.schedule = schedule
  }

  /// Subscribes, and returns the subscription that cancels the input and releases the queued
  /// updates.
  ///
  /// - Parameter function: The name of the operator or of the form of `subscribe`, for instruments.
  @inlinable
  package func subscribe<Kind>(
    to publisher: Publisher<Update, Kind>, by function: String = #function
  ) -> Subscription {
    let token = makeToken()
    let sentinel = Sentinel { self.endInput() }
    let watch = BufferWatch(publisher.lineage, of: function)?.measuring(counter) { [weak self] in
      self?.counts
    }
    prepareCounter()
    join(
      connect(counter) {
        publisher.follow { update in
          withExtendedLifetime(sentinel) { self.receive(update) }
          watch?.look(self.counts)
        }
      })
    return token
  }

  @usableFromInline func makeToken() -> Subscription { Subscription(self) }

  @usableFromInline
  func prepareCounter() {
    guard let counter else { return }
    state.withLock { $0.counters = [counter] }
    counter.onTimeout { [weak self] in self?.endStalled() }
  }

  /// Cancels the input, and delivers the queue.
  private func endStalled() {
    state.withLock { $0.input }?.invalidate()
    endInput()
  }

  func attach(_ counter: InFlightCounter, of token: Subscription) {
    let input = state.withLock { state in
      state.counters.append(counter)
      counter.count(state.buffer.queue.count)
      return state.input
    }
    counter.check()
    if let input { input.host.attach(counter, of: input) }
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
    let carried = Carried(update)
    // The dropped update is released after the lock, when this function returns.
    let (mustSchedule, dropped, counters) = state.withLock {
      state -> (Bool, Carried<Update>?, [InFlightCounter]) in
      guard state.callback != nil else { return (false, nil, []) }
      let count = state.buffer.queue.count
      let dropped = state.buffer.append(carried)
      for counter in state.counters { counter.count(state.buffer.queue.count - count) }
      return (state.wake(), dropped, state.counters)
    }
    if dropped != nil { countDrop() }
    for counter in counters { counter.check() }
    if mustSchedule { schedule(self, false) }
  }

  /// Runs a job: delivers the queued updates and the updates that its callbacks send, up to a
  /// limit.
  ///
  /// - Parameters:
  ///   - call: Calls the callback.
  ///   - end: Runs in the last job, after the last update, unless the subscription is canceled.
  @inlinable
  package func run(
    calling call: (Callback, Update) -> Void, ending end: (Callback) -> Void = { _ in }
  ) {
    state.withLock { $0.phase = .running }
    for _ in 0..<Schedule.patience {
      let (next, drained) = state.withLock { state -> (Next?, [WaitingCall]) in
        let drained = state.drains.endCall()
        guard let callback = state.callback, let carried = state.buffer.queue.popFirst() else {
          return (nil, drained)
        }
        state.drains.isCalling = true
        return ((callback, carried, state.counters), drained)
      }
      for call in drained { call.resume() }
      guard let (callback, carried, counters) = next else { break }
      for counter in counters where counter !== self.counter { counter.beginMove() }
      carried.deliver { call(callback, $0) }
      for counter in counters {
        if counter === self.counter { counter.subtractTaken() } else { counter.endMove() }
      }
    }
    rest(ending: end)
  }

  @usableFromInline typealias Next = (Callback, Carried<Update>, [InFlightCounter])

  /// Ends a job.
  @inlinable
  func rest(ending end: (Callback) -> Void) {
    var ended: Callback?
    var endValues: CarriedValues?
    let (isContinued, drained) = state.withLock { state in
      state.phase = .resting
      let drained = state.drains.endCall()
      if state.buffer.queue.count == 0, state.inputHasEnded {
        ended = state.callback.take()
        endValues = state.endValues.take()
        state.isFinishing = ended != nil
      }
      return (state.wake(), drained)
    }
    for call in drained { call.resume() }
    if ended != nil {
      if let endValues {
        endValues.run { finish(&ended, ending: end) }
      } else {
        finish(&ended, ending: end)
      }
    }
    if isContinued { schedule(self, true) }
  }

  /// Ends the callback after its last update.
  ///
  /// - Parameter callback: The only reference, because the release may emit a last update.
  @inlinable
  func finish(_ callback: inout Callback?, ending end: (Callback) -> Void) {
    if let callback { end(callback) }
    ReleaseChain.release(&callback)
    let endCalls = state.withLock { state in
      state.isFinishing = false
      return state.endCalls.takeAll()
    }
    for call in endCalls { call.resume() }
  }

  @inlinable
  func endInput() {
    let mustSchedule = state.withLock { state in
      if !state.inputHasEnded, state.callback != nil { state.endValues = .current }
      state.inputHasEnded = true
      guard state.callback != nil, state.phase == .resting else { return false }
      state.phase = .scheduled
      return true
    }
    counter?.endTimeout()
    if mustSchedule { schedule(self, false) }
  }

  /// Counts a dropped update for the calls of `drained()`.
  @usableFromInline
  func countDrop() {
    for call in state.withLock({ $0.drains.finishOne() }) { call.resume() }
  }

  func collectDrains(of token: Subscription, into drains: inout [Drain]) {
    if let input = state.withLock({ $0.input }) {
      input.host.collectDrains(of: input, into: &drains)
    }
    drains.append { await self.drained() }
  }

  private func drained() async {
    let call = WaitingCall()
    let mustWait = state.withLock { state in
      state.callback != nil && state.drains.wait(for: state.buffer.queue.count, call)
    }
    if mustWait { await call.wait() }
  }

  @usableFromInline var counts: BufferCounts { state.withLock { $0.buffer.counts } }

  func bufferCounts(of token: Subscription) -> BufferCounts {
    let (counts, input) = state.withLock { ($0.buffer.counts, $0.input) }
    return input.map { counts + $0.bufferCounts } ?? counts
  }

  func isSubscribed(_ token: Subscription) -> Bool {
    state.withLock { $0.callback != nil }
  }

  func withEndCalls(
    of token: Subscription, _ body: (inout EndCalls, _ isActive: Bool) -> Void
  ) {
    state.withLock { state in
      let isActive = state.callback != nil || state.isFinishing
      body(&state.endCalls, isActive)
    }
  }

  func end(_ token: Subscription) {
    var callback: Callback?
    var waiting = Optional(Queue<Carried<Update>>())
    var endValues: CarriedValues?
    let (input, counters, drained) = state.withLock { state in
      let endCalls = state.isFinishing ? [] : state.endCalls.takeAll()
      callback = state.callback.take()
      waiting = state.buffer.takeAll()
      endValues = state.endValues.take()
      return (state.input, state.counters, state.drains.finishAll() + endCalls)
    }
    counter?.endTimeout()
    input?.leave()
    for call in drained { call.resume() }
    for counter in counters { counter.subtract(waiting?.count ?? 0) }
    ReleaseChain.release(&callback)
    ReleaseChain.release(&waiting)
    ReleaseChain.release(&endValues)
  }
}
