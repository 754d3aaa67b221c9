internal import Synchronization

/// What inputs that share a source ask for.
extension Combination {
  /// Stands behind its inputs in every source that several of them share.
  func standLast() {
    if inputs.count < 2 { return }
    let look = delivery.lock.withLock { _ in
      unsafe looks.begun += 1
      return unsafe looks.begun
    }
    let origins = Origins(of: self)
    let replaced = delivery.lock.withLock { state -> [LastSlot] in
      if state.table.count == 0 || state.schedule.hasEnded { return [] }
      // Whoever has looked later has seen what is seen here.
      if unsafe look < looks.done { return [] }
      unsafe looks.done = look
      let replaced = unsafe lastSlots
      for source in origins.shared {
        let last = LastSlot(of: self, in: source)
        if source.join(last) { unsafe lastSlots.append(last) }
      }
      hasLastSlots.store(unsafe !lastSlots.isEmpty, ordering: .releasing)
      return replaced
    }
    for last in replaced { last.replace() }
  }

  /// Under the lock: true if some shared source has begun to bring changes, and not come to the last
  /// slot; a turn on this thread begins now.
  @usableFromInline
  func opensLastSlots(on thread: ThreadID) -> Bool {
    for last in unsafe lastSlots
    where unsafe !last.isOpen && last.source.isAbout(toCall: last, on: thread) {
      unsafe last.isOpen = true
      unsafe openCount += 1
    }
    return unsafe openCount > 0
  }

  /// The same for the deliverer, who has entered without the lock: what was held back when it did may
  /// be behind it in the queue, to be told, when it looks.
  @usableFromInline
  func isMidTurn(on thread: ThreadID) -> Bool {
    let opens = delivery.lock.withLock { _ in opensLastSlots(on: thread) }
    return unsafe opens || isHolding
  }

  /// Tells what was held back, if no other source holds it back still.
  func close(_ last: LastSlot) {
    let thread = ThreadID.current
    let turn = delivery.lock.withLock { state -> Turn? in
      unsafe last.isOpen = false
      unsafe openCount -= 1
      if unsafe openCount > 0 { return nil }
      return delivery.admit(
        CombinationChange { self.takeHeld() }, replacing: nil, from: thread, &state)
    }
    if let turn { run(turn, takeHeld) }
  }

  /// Called by the deliverer.
  private func takeHeld() -> Bool {
    defer { unsafe isHolding = false }
    return unsafe isHolding
  }

  /// Ends the last slot, unless a turn may come to it that does not come to the one that replaces it.
  ///
  /// In one step: nobody shall wait for a slot that its source has lost.
  func withdraw(_ last: LastSlot) {
    let thread = ThreadID.current
    var callback = LooseCallback.none
    delivery.lock.withLock { _ in
      if last.source.end(last, from: thread, &callback) {
        unsafe lastSlots.removeAll { $0 === last }
      }
    }
    callback.release()
  }

  /// Called when the last input has ended, which may be in mid-turn.
  @usableFromInline
  func end() {
    if hasLastSlots.load(ordering: .acquiring) {
      delivery.send(CombinationChange { self.takeHeld() })
    }
    delivery.end()
    leaveLastSlots()
  }

  func leaveLastSlots() {
    let left = delivery.lock.withLock { _ in
      defer { unsafe lastSlots = [] }
      return unsafe lastSlots
    }
    for last in left { last.token.invalidate() }
  }
}
