public import Synchronization

/// The part of a delivery that its subscriptions use.
///
/// It is not generic, because a subscription calls it through `SubscriptionHost`, and the methods of a
/// generic class are never specialized there. Unchecked, because a class with subclasses cannot be checked: each variable
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
  package func delivered() async {
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
  final func tidy(_ state: inout DeliveryState) {
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
}
