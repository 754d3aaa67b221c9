extension ResourceCore {
  /// The change of the value and the failure.
  enum Content {
    case unchanged
    case value(Value)
    case failure(Failure)
    case none
  }

  /// The consequences of a change, outside the lock.
  private struct Consequences {
    var canceled: LoadRun?
    var started: (run: LoadRun, attempt: ResourceSchedule.Attempt)?
    var finished: [Int: Finish] = [:]
    var mustSetAlarm = false
    var replaced: State
    var update: State?
    var turn: Turn?
    var firstCall: (call: FirstCall, state: State)?
    var isIdle = false
  }

  /// A subscriber that joins with a change.
  struct Newcomer {
    let token: Subscription
    let receive: @Sendable (State) -> Void
  }

  /// Runs `body` under the lock, and publishes the state if it differs.
  ///
  /// Loads start before subscribers receive that they have started, so a callback may wait for one.
  ///
  /// - Parameters:
  ///   - result: The result for all waiters, if the change resolves them.
  ///   - cause: The reason for a load that starts.
  ///   - newcomer: A subscriber whose first state is the state after the change, even if a load that
  ///     the change starts ends before the newcomer is called.
  ///   - body: A closure that changes the schedule. It runs no user code and releases nothing of the
  ///     user.
  /// - Returns: `false` if the resource has ended, so the newcomer receives no further states.
  @discardableResult
  func change(
    resolving result: Result<Value, Failure>? = nil, by cause: LoadCause = .reader,
    joining newcomer: Newcomer? = nil, _ body: () -> Content
  ) -> Bool {
    let thread = ThreadID.current
    let consequences = delivery.lock.withLock { deliveryState in
      let wasIdle = unsafe schedule.isIdle
      let (attempt, wake) = unsafe (schedule.attempt, schedule.nextWake)
      var consequences = unsafe Consequences(replaced: state)
      let content = body()
      unsafe consequences.isIdle = !wasIdle && schedule.isIdle
      if unsafe schedule.nextWake != wake {
        unsafe wakeNumber += 1
        consequences.mustSetAlarm = true
      }
      if unsafe schedule.waiterCount == 0 { unsafe swap(&consequences.finished, &waiters) }
      changeRun(after: attempt, cause, &consequences)
      if let update = next(content) {
        unsafe state = update
        consequences.update = update
        consequences.turn = delivery.admit(
          update, replacing: consequences.replaced, from: thread, &deliveryState)
      }
      if let newcomer {
        let first = unsafe state
        let call = delivery.join(
          newcomer.token, newcomer.receive, first: first, from: thread, &deliveryState)
        consequences.firstCall = (call, first)
      }
      return consequences
    }
    carryOut(consequences, result, cause, newcomer)
    return consequences.firstCall?.call != .only
  }

  /// Replaces the run if the load has changed, and adds the attempt to start.
  ///
  /// Called under the lock.
  private func changeRun(
    after old: ResourceSchedule.Attempt?, _ cause: LoadCause, _ consequences: inout Consequences
  ) {
    let attempt = unsafe schedule.attempt
    if attempt == old { return }
    if attempt?.load != old?.load {
      consequences.canceled = unsafe run
      // A poll has no reader.
      let carried = cause == .clock ? nil : CarriedValues.current
      let waiter = cause == .waiter ? WorkHandle.current : nil
      unsafe run = attempt.map { LoadRun($0.load, carried, waiter: waiter) }
    }
    if let attempt, let run = unsafe run { consequences.started = (run, attempt) }
  }

  /// Returns the next state, or `nil` if nothing has changed.
  ///
  /// Called under the lock.
  private func next(_ content: Content) -> State? {
    let old = unsafe state
    var (value, valueNumber, age) = (old.value, old.valueNumber, old.ageNow)
    var (failure, failureNumber) = (old.failure, old.failureNumber)
    unsafe lastNumber += 1
    let number = unsafe lastNumber
    switch content {
    case .unchanged: break
    case .value(let new):
      (value, valueNumber, failure, failureNumber) = (new, number, nil, 0)
      let (now, time) = unsafe (timekeeper.now, schedule.valueTime)
      age = { now() - time }
    case .failure(let new): (failure, failureNumber) = (new, number)
    case .none: (value, valueNumber, age, failure, failureNumber) = (nil, 0, nil, nil, 0)
    }
    let (isLoading, isStale) = unsafe (schedule.attempt != nil, schedule.isStale)
    if valueNumber == old.valueNumber, failureNumber == old.failureNumber,
      isLoading == old.isLoading, isStale == old.isStale
    {
      return nil
    }
    return State(
      value, failure, isLoading: isLoading, isStale: isStale, valueNumber: valueNumber,
      failureNumber: failureNumber, ageNow: age)
  }

  private func carryOut(
    _ consequences: Consequences, _ result: Result<Value, Failure>?, _ cause: LoadCause,
    _ newcomer: Newcomer?
  ) {
    consequences.canceled?.cancel()
    if let (run, attempt) = consequences.started { begin(attempt, of: run, cause) }
    if consequences.mustSetAlarm { setAlarm() }
    if let result {
      for (_, finish) in consequences.finished.sorted(by: { $0.key < $1.key }) { finish(result) }
    }
    if let update = consequences.update {
      if let turn = consequences.turn {
        delivery.deliver(update, replacing: consequences.replaced, turn)
      } else if let lineage {
        lineage.valueWasNotDelivered(by: delivery)
      }
    }
    if let newcomer, let (call, state) = consequences.firstCall {
      _ = delivery.makeFirstCall(call, newcomer.receive, state)
    }
    // Later states follow the first state of the newcomer.
    if consequences.turn != nil { delivery.leave() }
    if consequences.isIdle { onIdle() }
  }

  /// Sets the alarm to the next wake.
  ///
  /// Several threads may set it, and the last of them has seen the last change.
  private func setAlarm() {
    while true {
      let (wake, number) = delivery.lock.withLock { _ in unsafe (schedule.nextWake, wakeNumber) }
      if let wake { alarm.setOrRing(at: wake) } else { alarm.clear() }
      if delivery.lock.withLock({ _ in unsafe wakeNumber == number }) { return }
    }
  }
}
