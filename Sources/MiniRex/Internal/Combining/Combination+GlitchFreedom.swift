internal import Synchronization

/// Glitch-freedom for inputs that share a source.
extension Combination {
  /// Installs a barrier behind the inputs in each source that several of them share.
  func installBarriers() {
    if inputs.count < 2, !mayHold.load(ordering: .acquiring) { return }
    let look = delivery.lock.withLock { _ in
      unsafe looks.begun += 1
      return unsafe looks.begun
    }
    let sources = SharedSources(of: self)
    let replaced = delivery.lock.withLock { state -> [GlitchBarrier] in
      if state.table.count == 0 || state.schedule.hasEnded { return [] }
      // A later inspection has already seen the present state.
      if unsafe look < looks.done { return [] }
      unsafe looks.done = look
      let replaced = unsafe barriers
      for source in sources.shared {
        let barrier = GlitchBarrier(of: self, in: source)
        if source.join(barrier) { unsafe barriers.append(barrier) }
      }
      mayHold.store(unsafe !barriers.isEmpty || openCount > 0, ordering: .releasing)
      return replaced
    }
    for barrier in replaced { barrier.replace() }
  }

  /// Returns `true` if a shared source has emitted changes and has not reached its barrier, or if a
  /// turn on this thread starts now.
  ///
  /// A batch of writes holds the change until all of its writes are delivered.
  ///
  /// Under the lock.
  @usableFromInline
  func opensBarriers(on thread: ThreadID, _ batch: WriteBatch? = nil) -> Bool {
    // The first values are not held, because they are emitted inside `subscribe`.
    if let batch, unsafe !currentInputs.isEmpty, batch.hold(self) {
      unsafe openCount += 1
      mayHold.store(true, ordering: .releasing)
    }
    for barrier in unsafe barriers
    where !barrier.isOpen.relaxed && barrier.source.isAbout(toCall: barrier, on: thread) {
      barrier.isOpen.relaxed = true
      unsafe openCount += 1
    }
    return unsafe openCount > 0
  }

  /// Returns `true` if a delivering thread that entered without the lock must hold its change.
  ///
  /// That is also the case after earlier changes were held: a queued update emits all of them.
  @usableFromInline
  func isMidTurn(on thread: ThreadID) -> Bool {
    let opens = delivery.lock.withLock { _ in opensBarriers(on: thread) }
    return unsafe opens || isHolding
  }

  /// Emits the held changes, unless another source still holds them.
  func close(_ barrier: GlitchBarrier) {
    close { barrier.isOpen.relaxed = false }
  }

  /// Emits the held changes, unless another hold remains.
  func close(_ remove: () -> Void = {}) {
    let thread = ThreadID.current
    var change: CombinationChange?
    let turn = delivery.lock.withLock { state -> Turn? in
      remove()
      unsafe openCount -= 1
      if unsafe openCount > 0 { return nil }
      if unsafe folds && !delivery.isDelivering(on: thread, state) {
        if unsafe barriers.isEmpty && closingCount == 0 {
          mayHold.store(false, ordering: .releasing)
        }
        change = fold()
      } else {
        unsafe closingCount += 1
        change = CombinationChange { self.takeHeld() }
      }
      guard let change else { return nil }
      return delivery.admit(change, replacing: nil, from: thread, &state)
    }
    if let turn, let change { run(turn, change) }
  }

  /// Releases the held changes, and returns `true` if they must be emitted now.
  ///
  /// Called by the delivering thread.
  private func takeHeld() -> Bool {
    let mustHold = delivery.lock.withLock { _ in
      unsafe closingCount -= 1
      if unsafe barriers.isEmpty && openCount == 0 && closingCount == 0 {
        mayHold.store(false, ordering: .releasing)
      }
      // A folded update may contain some of the writes of a later batch. It emits after the rest.
      return unsafe folds && (openCount > 0 || isFoldQueued)
    }
    if mustHold { return false }
    defer { unsafe isHolding = false }
    return unsafe isHolding
  }

  /// Holds changes until a call of `close`.
  func open() {
    delivery.lock.withLock { _ in
      unsafe openCount += 1
      mayHold.store(true, ordering: .releasing)
    }
  }

  /// Holds changes until the end of a batch, unless the batch is over.
  ///
  /// - Returns: `false` for the first value.
  func hold(for batch: WriteBatch) -> Bool {
    delivery.lock.withLock { _ in
      // The first values are not held, because they are emitted inside `subscribe`.
      if unsafe currentInputs.isEmpty { return false }
      if batch.hold(self) {
        unsafe openCount += 1
        mayHold.store(true, ordering: .releasing)
      }
      return true
    }
  }

  /// Removes the barrier, unless a turn that skips its replacement may still reach it.
  ///
  /// In one step, because no turn may wait for a barrier that its source has lost.
  func withdraw(_ barrier: GlitchBarrier) {
    let thread = ThreadID.current
    var callback = ErasedCallback.none
    delivery.lock.withLock { _ in
      if barrier.source.end(barrier, from: thread, &callback) {
        unsafe barriers.removeAll { $0 === barrier }
      }
    }
    callback.release()
  }

  /// Emits the changes that are still held, and finishes.
  ///
  /// Called when the last input has finished, possibly during a turn.
  @usableFromInline
  func end() {
    if mayHold.load(ordering: .acquiring) {
      delivery.lock.withLock { _ in unsafe closingCount += 1 }
      delivery.send(CombinationChange { self.takeHeld() })
    }
    delivery.end()
    leaveBarriers()
  }

  func leaveBarriers() {
    let left = delivery.lock.withLock { _ in
      defer { unsafe barriers = [] }
      return unsafe barriers
    }
    for barrier in left {
      barrier.token.invalidate()
      barrier.source.lock.withLock { $0.discount(barrier) }
    }
  }
}
