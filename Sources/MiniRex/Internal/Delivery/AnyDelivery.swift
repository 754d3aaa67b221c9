public import Synchronization

/// The part of a delivery that its subscriptions use.
///
/// It is not generic, because a subscription calls it dynamically, and overrides in a generic class
/// are never specialized. Unchecked, because a class with subclasses cannot be checked: each variable
/// states its guard.
@usableFromInline
package class AnyDelivery: SubscriptionHost, @unchecked Sendable {
  @usableFromInline package let lock = Lock(DeliveryState())
  @usableFromInline let turnstile: Turnstile
  @usableFromInline let front = Front()
  /// Unchecked: it belongs to the delivering thread, which passes it on with the turnstile.
  @usableFromInline @exclusivity(unchecked) final var progress = TurnProgress(lastSerial: 0)
  /// The version of the value in delivery, if computed values depend on it.
  ///
  /// Unchecked, like `progress`.
  @usableFromInline @exclusivity(unchecked) final var turnVersion: UInt = 0
  /// The combinations that emit when no update of another thread follows.
  ///
  /// Unchecked, like `progress`.
  @usableFromInline @exclusivity(unchecked) final var deferred: [Combination] = []
  /// The subscription in whose turns this delivery emits, if there is one.
  private let input = AtomicLazyReference<WeakToken>()

  /// The address of the valve, which the delivery retains, or 0.
  ///
  /// Before the valve exists, it is the address of the run that the callbacks own, plus 1. A lazy
  /// reference is not specialized, and costs more than an update.
  @usableFromInline let valveAddress = Atomic<UInt>(0)

  @usableFromInline
  init(isOpen: Bool) {
    turnstile = Turnstile(isOpen: isOpen)
  }

  deinit { releaseValve() }

  @usableFromInline package var subscriberCount: Int {
    // A barrier is no subscriber. The end of a source removes it later than the subscribers.
    lock.withLock { max(0, $0.table.count - $0.barrierCount) }
  }

  @usableFromInline package var hasEnded: Bool { lock.withLock { $0.schedule.hasEnded } }

  @usableFromInline package var pendingUpdates: Int { lock.withLock { $0.tickets.count } }

  @usableFromInline
  final func subscribe(_ callback: ErasedCallback) -> Subscription {
    let token = Subscription(to: self)
    let hasJoined = lock.withLock { state in
      let hasJoined = state.join(token, callback)
      if hasJoined, turnstile.isOpen { publish(state) }
      return hasJoined
    }
    if hasJoined { return token }
    var callback = callback
    callback.release()
    return .ended
  }

  final func isSubscribed(_ token: Subscription) -> Bool { token.slot != nil }

  final func withEndCalls(
    of token: Subscription, _ body: (inout EndCalls, _ isActive: Bool) -> Void
  ) {
    lock.withLock { state in body(&state.endCalls, token.slot != nil) }
  }

  /// Declares, once, that this delivery emits in the turns of the subscription's source.
  func follow(_ token: Subscription) {
    _ = input.storeIfNil(WeakToken(token))
  }

  /// `true` if this delivery emits in the turns of another source.
  var follows: Bool { input.load() != nil }

  /// The queued and the dropped updates on the way to this delivery.
  var inputCounts: BufferCounts { input.load()?.token?.bufferCounts ?? BufferCounts() }

  final func collectSources(into sources: inout SharedSources) {
    if sources.add(self) { input.load()?.token?.host.collectSources(into: &sources) }
  }

  final func attach(_ counter: InFlightCounter, of token: Subscription) {
    let (valve, run) = attachValve(counter, of: token)
    if let valve { run?.passFlow(of: valve) }
  }

  /// Installs a barrier behind the present subscribers.
  ///
  /// Returns `false` if the source has finished.
  func join(_ barrier: GlitchBarrier) -> Bool { false }

  /// Returns `true` if this thread delivers.
  ///
  /// Called under the lock.
  func isDelivering(on thread: ThreadID, _ state: borrowing DeliveryState) -> Bool {
    // The schedule may not know a thread that entered without the lock.
    turnstile.hasEntered(thread) || turnstile.isInSchedule && state.schedule.deliverer == thread
  }

  /// Returns `true` if this thread runs a turn that has not reached the barrier.
  func isAbout(toCall barrier: GlitchBarrier, on thread: ThreadID) -> Bool {
    let serial = barrier.serial.relaxed
    if turnstile.hasEntered(thread) { return unsafe progress.isAbout(toCall: serial) }
    if turnstile.isResting { return false }
    return lock.withLock { state in
      unsafe isDelivering(on: thread, state) && progress.isAbout(toCall: serial)
    }
  }

  /// Records that the turn has reached a barrier.
  ///
  /// Called by the delivering thread.
  func hasPassed(_ barrier: GlitchBarrier) {
    unsafe progress.passed = barrier.serial.relaxed
  }

  /// Removes the barrier, unless a turn that excludes new subscribers may still reach it.
  ///
  /// - Parameter callback: The callback, which the caller releases after the lock.
  /// - Returns: `false` if such a turn may follow.
  func end(_ barrier: GlitchBarrier, from thread: ThreadID, _ callback: inout ErasedCallback)
    -> Bool
  {
    lock.withLock { state in
      if barrier.replacement.relaxed == 0 {
        barrier.replacement.relaxed = state.schedule.lastSerial
      }
      if let next = state.tickets.first, next.last < barrier.replacement.relaxed { return false }
      return withTurns(&state) { state, isRunning in
        if isRunning,
          unsafe state.schedule.deliverer != thread
            || progress.isAbout(toCall: barrier.serial.relaxed)
        {
          return false
        }
        callback = remove(barrier.token, from: &state, isRunning: isRunning)
        state.discount(barrier)
        return true
      }
    }
  }

  final func end(_ token: Subscription) {
    var callback = ErasedCallback.none
    let endCalls = lock.withLock { state in
      callback = withTurns(&state) { remove(token, from: &$0, isRunning: $1) }
      return state.endCalls.take(for: token)
    }
    detach(token)
    callback.release()
    detachFromOwnedRun(token)
    for call in endCalls { call.resume() }
  }

  final func end(_ token: Subscription, for group: WaitGroup) {
    let thread = ThreadID.current
    var callback = ErasedCallback.none
    let endCalls = lock.withLock { state in
      withTurns(&state) { state, isRunning in
        callback = remove(token, from: &state, isRunning: isRunning)
        if !isRunning || state.schedule.deliverer == thread { return }
        group.enter()
        state.groups.append(group)
      }
      return state.endCalls.take(for: token)
    }
    detach(token)
    callback.release()
    detachFromOwnedRun(token)
    for call in endCalls { call.resume() }
  }

  /// Returns when all accepted updates are delivered, or when the waiting task is canceled.
  ///
  /// That includes the queues of the combinations that follow.
  func delivered() async {
    if let receipt = receipt() { await wait(for: receipt) }
    await deliveredByFollowers()
  }

  func wait(for receipt: WaitGroup) async {
    await withTaskCancellationHandler {
      await receipt.wait()
    } onCancel: {
      if lock.withLock({ $0.removeReceipt(receipt) }) { receipt.leave() }
    }
  }

  /// Returns a group that waits for the queue and the turn in progress, or `nil` if there are none.
  func receipt() -> WaitGroup? {
    lock.withLock { state in
      withTurns(&state) { state, isRunning in
        if !isRunning, state.tickets.count == 0 { return nil }
        let receipt = WaitGroup(awaitingWork: false, requester: nil)
        receipt.enter()
        state.addReceipt(receipt)
        return receipt
      }
    }
  }

  /// `true` if the queue is empty and no turn is in progress.
  var isIdle: Bool {
    lock.withLock { state in
      withTurns(&state) { state, isRunning in !isRunning && state.tickets.count == 0 }
    }
  }

  /// Ends the subscription, and returns its callback if the caller must release it after the lock.
  @inline(__always)
  private func remove(
    _ token: Subscription, from state: inout DeliveryState, isRunning: Bool
  ) -> ErasedCallback {
    guard let slot = token.slot else { return .none }
    if isRunning {
      state.table.removeLater(slot)
      return .none
    }
    let callback = state.table.remove(slot)
    tidy(&state)
    return callback
  }

  /// Compacts the table.
  ///
  /// Called under the lock, while no thread reads the slots.
  @inline(__always)
  private func tidy(_ state: inout DeliveryState) {
    state.table.tidy()
    if turnstile.isOpen { state.table.publish(to: front) }
  }

  /// Runs `body` under the lock, while no turn can start.
  ///
  /// Its parameter is `true` if a delivering thread may be reading the slots. That thread then
  /// takes the lock before it rests.
  @inline(__always)
  private func withTurns<Result>(
    _ state: inout DeliveryState, _ body: (inout DeliveryState, _ isRunning: Bool) -> Result
  ) -> Result {
    let isClosed = turnstile.isOpen && close(&state)
    let result = body(&state, !isClosed && turnIsRunning(&state))
    if isClosed { turnstile.rest() }
    return result
  }

  /// Returns `true` if delivering threads are excluded, and `false` if one is active or about to
  /// start.
  @inline(__always)
  private func close(_ state: inout DeliveryState) -> Bool {
    while !turnstile.close() {
      if signalDeliverer(&state) { return false }
    }
    return true
  }

  private func turnIsRunning(_ state: inout DeliveryState) -> Bool {
    state.schedule.deliverer != nil && !state.schedule.isBetweenTurns && signalDeliverer(&state)
  }

  /// Returns `true` if a thread delivers, or is about to, and will look under the lock.
  ///
  /// Called under the lock.
  @usableFromInline
  func signalDeliverer(_ state: inout DeliveryState) -> Bool {
    let (hasDeliverer, deliverer) = turnstile.signal()
    if let deliverer { state.begin(on: deliverer) }
    return hasDeliverer
  }

  /// Shows a new subscriber to the threads that enter without the lock.
  ///
  /// Called under the lock, after its callback is in place.
  @usableFromInline
  func publish(_ state: borrowing DeliveryState) {
    state.table.publish(to: front)
    front.lastSerial.store(state.schedule.lastSerial, ordering: .releasing)
  }

  /// Returns the serial number of the newest subscriber when the delivering thread was signaled.
  ///
  /// For a thread that was signaled before it read its extent. Its turn excludes subscribers that
  /// joined after a later update.
  @usableFromInline
  func lastSerialAtCall() -> UInt {
    lock.withLock { $0.lastSerialAtCall }
  }

  /// Returns `true` if the caller must deliver the queue.
  ///
  /// Called under the lock.
  @usableFromInline
  func end(on thread: ThreadID, _ state: inout DeliveryState) -> Bool {
    let isFirst = !state.schedule.hasEnded
    state.schedule.hasEnded = true
    if state.table.count == 0 { return false }
    let isDeliverer = enter(on: thread, &state)
    if isFirst { queueEnd(by: isDeliverer, &state) }
    return isDeliverer
  }

  /// Keeps the carried values of the sender that finished the source, unless it delivers the end.
  ///
  /// A sender that delivers a queue may hand over before the end.
  ///
  /// Called under the lock, with a subscriber.
  @usableFromInline
  func queueEnd(by isDeliverer: Bool, _ state: inout DeliveryState) {
    if !isDeliverer || state.tickets.count > 0 { state.endValues = .current }
  }

  /// Returns `true` if the caller is now the delivering thread.
  ///
  /// Called under the lock.
  @usableFromInline
  func enter(on thread: ThreadID, _ state: inout DeliveryState) -> Bool {
    while !turnstile.enter() {
      if signalDeliverer(&state) { return state.schedule.takeOver(on: thread) }
    }
    state.schedule.begin(on: thread)
    return true
  }

  /// Returns `true` if no other thread has continued the delivery.
  ///
  /// Called under the lock, for the Swift task.
  @usableFromInline
  func enter(asTaskOn thread: ThreadID, _ state: inout DeliveryState) -> Bool {
    state.schedule.taskHasBegun()
    return signalDeliverer(&state) && state.schedule.takeOver(on: thread)
  }

  /// Completes a turn, until there is another turn to run.
  ///
  /// - Parameter pop: Takes the update of the next turn from the queue, under the lock.
  @usableFromInline
  func proceed(pop: () -> Void) -> NextTurn {
    // For the callbacks of all subscribers, which are released one after the other.
    var endValues: CarriedValues?
    while true {
      var callback = ErasedCallback.none
      var groups: [WaitGroup] = []
      var turn: QueuedTurn?
      var callsTask = false
      var endCalls: [WaitingCall] = []
      let step = lock.withLock { state -> Step in
        let step = state.nextStep()
        switch step {
        case .release:
          callback = state.table.takeEnded()
          // A release may cancel work that these groups wait for.
          groups = state.groups.filter(\.awaitsWork)
        case .wake:
          groups = state.takeDrains()
        case .finish:
          state.table.removeAllLater()
          callback = state.table.takeEnded()
          endValues = state.endValues.take()
          // No subscriber joins any more, so no thread must wait for the release of the last
          // callback.
          if state.nextStep() == .rest {
            endCalls = rest(&state)
            return .rest
          }
        case .deliver:
          tidy(&state)
          turn = state.nextTurn()
          pop()
          turnstile.acknowledge(expectingMore: state.expectsMore)
        case .handOver:
          tidy(&state)
          callsTask = state.schedule.callTask()
        case .rest:
          // The last subscriber may have canceled its subscription before the end.
          if endValues == nil { endValues = state.endValues.take() }
          endCalls = rest(&state)
        }
        return step
      }
      switch step {
      case .release: WaitGroup.capture(groups) { release(&callback, with: endValues) }
      case .wake: for group in groups { group.leave() }
      case .finish: release(&callback, with: endValues)
      case .deliver: if let turn { return .turn(turn) }
      case .handOver: return callsTask ? .callTask : .rest
      case .rest:
        release(&callback, with: endValues)
        for call in endCalls { call.resume() }
        return .rest
      }
    }
  }

  /// Releases a callback, which may emit a last update if its source has finished.
  private func release(_ callback: inout ErasedCallback, with values: CarriedValues?) {
    if let values { values.run { callback.release() } } else { callback.release() }
  }

  /// Compacts the table, and ends the delivery by this thread.
  ///
  /// - Returns: The calls of `ended`, if the source has finished and its callbacks are released.
  private func rest(_ state: inout DeliveryState) -> [WaitingCall] {
    tidy(&state)
    turnstile.rest()
    return state.schedule.hasEnded && state.table.count == 0 ? state.endCalls.takeAll() : []
  }
}
