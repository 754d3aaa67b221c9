internal import Synchronization

/// The subscription to appended publishers, one at a time.
///
/// Each step subscribes to one publisher. A publisher that is itself the result of `append` adds its
/// two publishers as steps instead. A chain of any length and nesting therefore has one succession,
/// which takes its steps in a loop. The publisher recognizes the succession by its callback, see
/// `ForwardedCallback`. An operator behind `append` and a watched publisher subscribe other callbacks,
/// so a separate succession continues there.
final class Succession<Update: Sendable>: SubscriptionHost {
  /// Subscribes a callback to one publisher.
  struct Step: Sendable {
    let subscribe: @Sendable (@escaping @Sendable (Update) -> Void) -> Subscription
  }

  /// The callback of the subscriber.
  ///
  /// The struct avoids the thunk that a closure has in an optional.
  struct Callback: Sendable {
    let call: @Sendable (Update) -> Void
  }

  private struct State: Sendable {
    /// The next steps, last first.
    var steps: [Step]
    /// `nil` after the end.
    var callback: Callback?
    /// The subscription of the present step, or of the last step for later waits.
    var input: Subscription?
    /// The thread that takes steps.
    var walker: ThreadID?
    /// `true` if the publisher of the present step has finished before its `subscribe` returned.
    var hasFinished = false
    /// The number of updates that the buffers of earlier steps have dropped.
    var droppedCount = 0
    /// The counters of the suspending subscribers.
    var counters: [InFlightCounter] = []
    /// The groups that wait for the walker, after a cancellation.
    var groups: [WaitGroup] = []
    var endCalls = EndCalls()
  }

  private let state: Lock<State>
  /// Blocks the callback during a step, because no subscription exists yet that could be canceled.
  let isOver = Atomic(false)

  /// - Parameter steps: The steps, last first.
  init(_ steps: [Step], _ receive: @escaping @Sendable (Update) -> Void) {
    state = Lock(State(steps: steps, callback: Callback(call: receive)))
  }

  /// Takes the first step, and the following steps while their publishers finish immediately.
  func begin() {
    state.withLock { $0.walker = .current }
    walk()
  }

  /// Adds steps before the next step, last first.
  ///
  /// Called during a step, which ends because its callback is released.
  func add(_ steps: [Step]) {
    state.withLock { state in
      if state.callback != nil { state.steps += steps }
    }
  }

  /// Takes the next step, unless the walker takes it.
  fileprivate func stepHasFinished() {
    let mustWalk = state.withLock { state in
      if state.callback == nil { return false }
      if state.walker == nil {
        state.walker = .current
        return true
      }
      state.hasFinished = true
      return false
    }
    if !mustWalk { return }
    // The next publisher may emit for a long time, so pending releases must not wait for it.
    ReleaseChain.start { self.walk() }
  }

  private func walk() {
    while let (step, callback, counters) = nextStep() {
      let input = subscribe(callback, to: step, counters)
      guard follow(input, counters) else { return }
    }
  }

  /// Takes the next step.
  ///
  /// After the last step or a cancellation, it ends the succession and returns `nil`.
  private func nextStep() -> (Step, Callback, [InFlightCounter])? {
    var callback: Callback?
    let (next, groups, endCalls) = state.withLock {
      state -> ((Step, Callback, [InFlightCounter])?, [WaitGroup], [WaitingCall]) in
      if let callback = state.callback, let step = state.steps.popLast() {
        state.hasFinished = false
        return ((step, callback, state.counters), [], [])
      }
      isOver.store(true, ordering: .releasing)
      callback = state.callback.take()
      state.walker = nil
      defer { state.groups = [] }
      return (nil, state.groups, state.endCalls.takeAll())
    }
    // A call of `ended` returns after the end has reached the subscriber.
    ReleaseChain.release(&callback)
    for call in endCalls { call.resume() }
    for group in groups { group.leave() }
    return next
  }

  /// Not inlined, so that the callback is released when it returns.
  @inline(never)
  private func subscribe(
    _ callback: Callback, to step: Step, _ counters: [InFlightCounter]
  ) -> Subscription {
    let passage = Passage(callback, self)
    let receive: @Sendable (Update) -> Void = { passage.deliver($0) }
    return ForwardedCallback.declare(receive, for: self) {
      counters.isEmpty
        ? step.subscribe(receive)
        : FlowConnection.connect(to: counters) { step.subscribe(receive) }
    }
  }

  /// Stores the subscription of the present step, or cancels it after a cancellation.
  ///
  /// - Returns: `true` if the publisher of the step has finished.
  private func follow(_ input: Subscription, _ counters: [InFlightCounter]) -> Bool {
    let dropped = state.withLock { $0.input }?.bufferCounts.dropped ?? 0
    // The replaced subscription is released after the lock.
    let (added, groups, hasFinished, _) = state.withLock {
      state -> ([InFlightCounter], [WaitGroup]?, Bool, Subscription?) in
      let replaced = state.input
      state.input = input
      state.droppedCount += dropped
      let added = Array(state.counters.dropFirst(counters.count))
      if state.callback != nil, state.hasFinished { return (added, nil, true, replaced) }
      state.walker = nil
      if state.callback != nil { return (added, nil, false, replaced) }
      defer { state.groups = [] }
      return (added, state.groups, false, replaced)
    }
    // A subscriber may have attached its counter during the step.
    for counter in added { input.host.attach(counter, of: input) }
    guard let groups else { return hasFinished }
    WaitGroup.capture(groups) { input.invalidate() }
    for group in groups { group.leave() }
    return false
  }

  /// Ends the succession: releases its steps and its callback.
  ///
  /// - Returns: The subscription that the caller cancels.
  private func end(for group: WaitGroup?) -> Subscription? {
    isOver.store(true, ordering: .releasing)
    let thread = ThreadID.current
    var released: ([Step], Callback?)?
    let (input, endCalls) = state.withLock { state -> (Subscription?, [WaitingCall]) in
      if let group, let walker = state.walker, walker != thread || group.awaitsWork {
        group.enter()
        state.groups.append(group)
      }
      released = (state.steps, state.callback.take())
      state.steps = []
      return (state.input, state.endCalls.takeAll())
    }
    ReleaseChain.release(&released)
    for call in endCalls { call.resume() }
    return input
  }

  func isSubscribed(_ token: Subscription) -> Bool { !isOver.load(ordering: .acquiring) }

  func withEndCalls(
    of token: Subscription, _ body: (inout EndCalls, _ isActive: Bool) -> Void
  ) {
    state.withLock { body(&$0.endCalls, $0.callback != nil) }
  }

  func bufferCounts(of token: Subscription) -> BufferCounts {
    let (input, dropped) = state.withLock { ($0.input, $0.droppedCount) }
    return (input?.bufferCounts ?? BufferCounts()) + BufferCounts(dropped: dropped)
  }

  func collectDrains(of token: Subscription, into drains: inout [Drain]) {
    guard let input = state.withLock({ $0.input }) else { return }
    input.host.collectDrains(of: input, into: &drains)
  }

  func attach(_ counter: InFlightCounter, of token: Subscription) {
    let input = state.withLock { state in
      state.counters.append(counter)
      return state.input
    }
    if let input { input.host.attach(counter, of: input) }
  }

  func end(_ token: Subscription) { end(for: nil)?.invalidate() }

  func end(_ token: Subscription, for group: WaitGroup) {
    if let input = end(for: group) { group.end(input) }
  }
}

/// The path of the updates of one step to the subscriber.
///
/// Its release ends the step.
private struct Passage<Update: Sendable>: ~Copyable, Sendable {
  private let callback: ChainLink<Succession<Update>.Callback>
  private let succession: Succession<Update>

  init(_ callback: Succession<Update>.Callback, _ succession: Succession<Update>) {
    self.callback = ChainLink(callback)
    self.succession = succession
  }

  deinit {
    let succession = succession
    // The next step begins after the release.
    _ = consume callback
    succession.stepHasFinished()
  }

  func deliver(_ update: Update) {
    if succession.isOver.load(ordering: .acquiring) { return }
    callback.content.call(update)
  }
}
