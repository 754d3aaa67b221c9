internal import Synchronization

/// The part of a source's machine that its tokens know.
///
/// It is not generic, because a token calls it dynamically, and what a generic class overrides is
/// never specialised. Unchecked like every `SubscriptionHost`: its state is in a `Lock`.
@usableFromInline
package class AnyDelivery: SubscriptionHost, @unchecked Sendable {
  @usableFromInline package let lock = Lock(DeliveryState())
  @usableFromInline let turnstile: Turnstile
  @usableFromInline let front = Front()
  /// Unchecked: the deliverer's own, who hands it over with the turnstile.
  @usableFromInline @exclusivity(unchecked) final var visit = Visit(lastSerial: 0)
  /// What it follows in turns of another source, if it does.
  private let input = AtomicLazyReference<WeakToken>()

  @usableFromInline
  init(isOpen: Bool) {
    turnstile = Turnstile(isOpen: isOpen)
  }

  @usableFromInline package var subscriberCount: Int { lock.withLock { $0.table.count } }

  @usableFromInline package var hasEnded: Bool { lock.withLock { $0.schedule.hasEnded } }

  @usableFromInline package var pendingUpdates: Int { lock.withLock { $0.tickets.count } }

  @usableFromInline
  final func subscribe(_ callback: LooseCallback) -> Subscription {
    let token = Subscription(self, place: Subscription.nowhere)
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

  override func isSubscribed(_ token: Subscription) -> Bool { token.slot != nil }

  /// Says, once, that what this delivers comes in turns of the token's source.
  func follow(_ token: Subscription) {
    _ = input.storeIfNil(WeakToken(token))
  }

  override func tellOrigins(to origins: inout Origins) {
    if origins.add(self) { input.load()?.token?.host.tellOrigins(to: &origins) }
  }

  /// Puts a combination behind those who have joined by now; false if the source has ended.
  func join(_ last: LastSlot) -> Bool { false }

  /// True if this thread is in a turn that has yet to come to the last slot.
  func isAbout(toCall last: LastSlot, on thread: ThreadID) -> Bool {
    if turnstile.hasLet(thread) { return unsafe visit.isAbout(toCall: last.serial) }
    if turnstile.isResting { return false }
    return lock.withLock { state in
      // Whom the turnstile has let in without the lock, the schedule may not know.
      unsafe turnstile.isInSchedule && state.schedule.deliverer == thread
        && visit.isAbout(toCall: last.serial)
    }
  }

  /// Called by the deliverer.
  func hasPassed(_ last: LastSlot) {
    unsafe visit.passed = last.serial
  }

  /// Ends the last slot, unless a turn may yet come to it that is not for those who join now.
  ///
  /// - Parameter callback: What the caller has to release after the lock.
  /// - Returns: False if such a turn may come.
  func end(_ last: LastSlot, from thread: ThreadID, _ callback: inout LooseCallback) -> Bool {
    lock.withLock { state in
      if unsafe last.replacement == 0 { unsafe last.replacement = state.schedule.lastSerial }
      if let next = state.tickets.first, unsafe next.last < last.replacement { return false }
      return withTurns(&state) { state, isRunning in
        if isRunning,
          unsafe state.schedule.deliverer != thread || visit.isAbout(toCall: last.serial)
        {
          return false
        }
        callback = remove(last.token, from: &state, isRunning: isRunning)
        return true
      }
    }
  }

  override func end(_ token: Subscription) {
    var callback = LooseCallback.none
    lock.withLock { state in
      callback = withTurns(&state) { remove(token, from: &$0, isRunning: $1) }
    }
    callback.release()
  }

  override func end(_ token: Subscription, for drain: Drain) {
    let thread = ThreadID.current
    var callback = LooseCallback.none
    lock.withLock { state in
      withTurns(&state) { state, isRunning in
        callback = remove(token, from: &state, isRunning: isRunning)
        if !isRunning || state.schedule.deliverer == thread { return }
        drain.expect()
        state.drains.append(drain)
      }
    }
    callback.release()
  }

  /// Returns when all that has been accepted by now is delivered, or the waiting task is cancelled.
  func delivered() async {
    guard let receipt = receipt() else { return }
    await withTaskCancellationHandler {
      await receipt.wait()
    } onCancel: {
      if lock.withLock({ $0.removeReceipt(receipt) }) { receipt.comeBack() }
    }
  }

  /// `nil` if nothing waits and no turn is in progress.
  private func receipt() -> Drain? {
    lock.withLock { state in
      withTurns(&state) { state, isRunning in
        if !isRunning, state.tickets.count == 0 { return nil }
        let receipt = Drain(awaitingWork: false, asker: nil)
        receipt.expect()
        state.addReceipt(receipt)
        return receipt
      }
    }
  }

  /// Ends the token, and returns its callback if it has to be released after the lock.
  @inline(__always)
  private func remove(
    _ token: Subscription, from state: inout DeliveryState, isRunning: Bool
  ) -> LooseCallback {
    guard let slot = token.slot else { return .none }
    if isRunning {
      state.table.removeLater(slot)
      return .none
    }
    let callback = state.table.remove(slot)
    tidy(&state)
    return callback
  }

  /// Under the lock, where no deliverer looks at the slots.
  @inline(__always)
  private func tidy(_ state: inout DeliveryState) {
    state.table.tidy()
    if turnstile.isOpen { state.table.publish(to: front) }
  }

  /// Runs `body` under the lock, while no turn begins; it is told whether a deliverer may be looking
  /// at the slots, who then comes to the lock before it rests.
  @inline(__always)
  private func withTurns<Result>(
    _ state: inout DeliveryState, _ body: (inout DeliveryState, _ isRunning: Bool) -> Result
  ) -> Result {
    let isClosed = turnstile.isOpen && close(&state)
    let result = body(&state, !isClosed && turnIsRunning(&state))
    if isClosed { turnstile.rest() }
    return result
  }

  /// True if deliverers are kept out; false if there is one, or one is on the way.
  @inline(__always)
  private func close(_ state: inout DeliveryState) -> Bool {
    while !turnstile.close() {
      if call(&state) { return false }
    }
    return true
  }

  private func turnIsRunning(_ state: inout DeliveryState) -> Bool {
    state.schedule.deliverer != nil && !state.schedule.isBetweenTurns && call(&state)
  }

  /// Under the lock: true if somebody delivers, or is on the way to, and will look under the lock.
  @usableFromInline
  func call(_ state: inout DeliveryState) -> Bool {
    let (isHeard, deliverer) = turnstile.call()
    if let deliverer { state.begin(on: deliverer) }
    return isHeard
  }

  /// Under the lock, when the callback of somebody who has joined is in its place.
  @usableFromInline
  func publish(_ state: borrowing DeliveryState) {
    state.table.publish(to: front)
    front.lastSerial.store(state.schedule.lastSerial, ordering: .releasing)
  }

  /// For a deliverer who was called before it knew for whom its turn is: not for those who have
  /// joined after an update that is behind it.
  @usableFromInline
  func lastSerialAtCall() -> UInt {
    lock.withLock { $0.lastSerialAtCall }
  }

  /// Under the lock: true if the caller has to drain.
  @usableFromInline
  func end(on thread: ThreadID, _ state: inout DeliveryState) -> Bool {
    state.schedule.hasEnded = true
    return state.table.count > 0 && enter(on: thread, &state)
  }

  /// Under the lock: true if the caller is now the deliverer.
  @usableFromInline
  func enter(on thread: ThreadID, _ state: inout DeliveryState) -> Bool {
    while !turnstile.enter() {
      if call(&state) { return state.schedule.takeOver(on: thread) }
    }
    state.schedule.begin(on: thread)
    return true
  }

  /// Under the lock, for the task that was called: true if nobody else has gone on by now.
  @usableFromInline
  func enter(asTaskOn thread: ThreadID, _ state: inout DeliveryState) -> Bool {
    state.schedule.taskHasBegun()
    return call(&state) && state.schedule.takeOver(on: thread)
  }

  /// Does what is left to do after a turn, until there is another turn to run.
  ///
  /// - Parameter pop: Takes the turn's update from the queue, under the lock.
  @usableFromInline
  func proceed(pop: () -> Void) -> NextTurn {
    while true {
      var callback = LooseCallback.none
      var drains: [Drain] = []
      var turn: QueuedTurn?
      var callsTask = false
      let step = lock.withLock { state -> Step in
        let step = state.nextStep()
        switch step {
        case .release:
          callback = state.table.takeEnded()
          // What is released may leave work that those who have ended it wait for.
          drains = state.drains.filter(\.awaitsWork)
        case .wake:
          drains = state.takeDrains()
        case .finish:
          state.table.removeAllLater()
          callback = state.table.takeEnded()
          // Nobody joins any more, so nobody has to wait for the release of the last callback.
          if state.nextStep() == .rest {
            rest(&state)
            return .rest
          }
        case .deliver:
          tidy(&state)
          turn = state.nextTurn()
          pop()
          turnstile.answer(expectingMore: state.expectsMore)
        case .handOver:
          tidy(&state)
          callsTask = state.schedule.callTask()
        case .rest:
          rest(&state)
        }
        return step
      }
      switch step {
      case .release: Drain.collect(drains) { callback.release() }
      case .wake: for drain in drains { drain.comeBack() }
      case .finish: callback.release()
      case .deliver: if let turn { return .turn(turn) }
      case .handOver: return callsTask ? .callTask : .rest
      case .rest:
        callback.release()
        return .rest
      }
    }
  }

  private func rest(_ state: inout DeliveryState) {
    tidy(&state)
    turnstile.rest()
  }
}
