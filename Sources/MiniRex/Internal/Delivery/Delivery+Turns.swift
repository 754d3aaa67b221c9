/// The turns of the delivering thread.
extension Delivery {
  /// The slot of an ended subscription has the serial number 0, which no subscriber has.
  @inlinable @inline(__always)
  package func deliver(_ update: Update, _ turn: Turn) {
    unsafe progress = TurnProgress(lastSerial: turn.lastSerial)
    turn.extent.visit { slot in
      if slot.serial &- 1 < turn.lastSerial {
        unsafe slot.callback(of: Update.self).pointee(update)
      }
    }
  }

  @inlinable @inline(__always)
  func deliver(_ update: Update, replacing replaced: Update, _ turn: Turn) {
    if comparison.isChange(from: replaced, to: update) { deliver(update, turn) }
  }

  @inlinable
  func deliver(_ pending: Pending, _ turn: QueuedTurn) {
    if pending.version == 0, pending.batch == nil, pending.carried == nil {
      return deliverAlone(pending, turn)
    }
    deliverFully(pending, turn)
  }

  /// Delivers an update with its carried values, its version, and its batch.
  ///
  /// Not inlined, like `enqueue`.
  @usableFromInline @inline(never)
  func deliverFully(_ pending: Pending, _ turn: QueuedTurn) {
    if let carried = pending.carried {
      carried.run { deliverTracked(pending, turn) }
    } else {
      deliverTracked(pending, turn)
    }
  }

  private func deliverTracked(_ pending: Pending, _ turn: QueuedTurn) {
    unsafe turnVersion = pending.version
    if let batch = pending.batch {
      batch.deliver { deliverAlone(pending, turn) }
    } else {
      deliverAlone(pending, turn)
    }
    pending.batch?.leave()
  }

  @inlinable
  func deliverAlone(_ pending: Pending, _ turn: QueuedTurn) {
    if let replaced = pending.replaced,
      !comparison.isChange(from: replaced, to: pending.update)
    {
      return
    }
    // A first value concerns no barrier.
    unsafe progress = TurnProgress(lastSerial: turn.ticket.first == 1 ? turn.ticket.last : 0)
    turn.extent?.visit { slot in
      if turn.ticket.admits(slot.serial) {
        unsafe slot.callback(of: Update.self).pointee(pending.update)
      }
    }
  }

  /// Ends a turn.
  @inlinable @inline(__always)
  package func leave() {
    if !turnstile.leave() { deliverQueued() }
  }

  /// Delivers the queue.
  ///
  /// Not inlined, like `continueInTask`: uncontended updates need neither.
  @inlinable @inline(never)
  func deliverQueued() {
    while true {
      if unsafe !deferred.isEmpty { releaseDeferred() }
      var pending: Pending?
      switch proceed(pop: { pending = unsafe queue.popFirst() }) {
      case .turn(let turn):
        if let pending {
          for counter in pending.counters { counter.beginMove() }
          deliver(pending, turn)
          for counter in pending.counters { counter.endMove() }
        }
      case .callTask:
        Task.detached { self.continueInTask() }
        return
      case .rest:
        return
      }
      pending = nil
      if unsafe deferred.isEmpty && turnstile.leave() { return }
    }
  }

  @inlinable @inline(never)
  func continueInTask() {
    let thread = ThreadID.current
    if lock.withLock({ enter(asTaskOn: thread, &$0) }) { deliverQueued() }
  }
}
