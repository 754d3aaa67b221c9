internal import Synchronization

/// Decides which thread delivers, and what it does after a turn.
extension AnyDelivery {
  /// Returns `true` if a thread delivers, or is about to, and will look under the lock.
  ///
  /// Called under the lock.
  @usableFromInline
  final func signalDeliverer(_ state: inout DeliveryState) -> Bool {
    let (hasDeliverer, deliverer) = turnstile.signal()
    if let deliverer { state.begin(on: deliverer) }
    return hasDeliverer
  }

  /// Shows a new subscriber to the threads that enter without the lock.
  ///
  /// Called under the lock, after its callback is in place.
  @usableFromInline
  final func publish(_ state: borrowing DeliveryState) {
    state.table.publish(to: front)
    front.lastSerial.store(state.schedule.lastSerial, ordering: .releasing)
  }

  /// Returns the serial number of the newest subscriber when the delivering thread was signaled.
  ///
  /// For a thread that was signaled before it read its extent. Its turn excludes subscribers that
  /// joined after a later update.
  @usableFromInline
  final func lastSerialAtCall() -> UInt {
    lock.withLock { $0.lastSerialAtCall }
  }

  /// Returns `true` if the caller must deliver the queue.
  ///
  /// Called under the lock.
  @usableFromInline
  final func end(on thread: ThreadID, _ state: inout DeliveryState) -> Bool {
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
  final func queueEnd(by isDeliverer: Bool, _ state: inout DeliveryState) {
    if !isDeliverer || state.tickets.count > 0 { state.endValues = .current }
  }

  /// Returns `true` if the caller is now the delivering thread.
  ///
  /// Called under the lock.
  @usableFromInline
  final func enter(on thread: ThreadID, _ state: inout DeliveryState) -> Bool {
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
  final func enter(asTaskOn thread: ThreadID, _ state: inout DeliveryState) -> Bool {
    state.schedule.taskHasBegun()
    return signalDeliverer(&state) && state.schedule.takeOver(on: thread)
  }

  /// Completes a turn, until there is another turn to run.
  ///
  /// - Parameter pop: Takes the update of the next turn from the queue, under the lock.
  @usableFromInline
  final func proceed(pop: () -> Void) -> NextTurn {
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
