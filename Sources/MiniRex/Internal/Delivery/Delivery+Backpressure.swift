internal import Synchronization

/// The result of sending an update that may have to be awaited.
@usableFromInline
enum SendOutcome: Sendable {
  case delivered
  /// Another thread delivers it.
  case queued
  /// The source has no subscriber.
  case notNeeded
  /// The source has finished.
  case refused
}

extension Delivery {
  @inlinable @inline(__always)
  func sendOrQueue(_ update: Update) -> SendOutcome {
    deliverImmediately(update) ? .delivered : sendOrQueueUnderLock(update, from: .current)
  }

  /// Returns `false`, without a delivery, if the source has no subscriber, or if another thread
  /// delivers.
  @inlinable @inline(__always)
  func deliverImmediately(_ update: Update) -> Bool {
    let thread = ThreadID.current
    guard turnstile.isOpen, !front.isEmpty, turnstile.enter(as: thread) else { return false }
    let turn = turn(of: thread)
    deliver(update, turn)
    leave(as: thread)
    return !turn.extent.isEmpty
  }

  @inlinable @inline(never)
  func sendOrQueueUnderLock(_ update: Update, from thread: ThreadID) -> SendOutcome {
    var outcome = SendOutcome.queued
    let turn = lock.withLock { state in
      if state.schedule.hasEnded {
        outcome = .refused
      } else if state.table.count == 0 {
        outcome = .notNeeded
      }
      return admit(update, replacing: nil, from: thread, &state)
    }
    guard let turn else { return outcome }
    deliver(update, turn)
    leave()
    // A thread that has taken over delivers the queue, unless it hands over before this update.
    return turn.isForNobody ? .queued : .delivered
  }
}

extension Delivery {
  /// Sends an update of another publisher, which may be part of a long chain.
  ///
  /// Like `ReleaseChain.release`, only one of four stack addresses looks up the chain.
  func relay(_ update: Update) {
    var mark: UInt8 = 0
    let place = unsafe withUnsafePointer(to: &mark) { UInt(bitPattern: $0) }
    if ReleaseChain.begins(at: place) { relayStep(update) } else { _ = send(update) }
  }

  /// Sends an update whose delivery subscribes to the next publisher of a chain, or cancels one.
  ///
  /// If the stack is deep, the update is admitted now, and delivered by the end of the chain.
  func relayStep(_ update: Update) {
    ReleaseChain.run {
      _ = send(update)
    } later: {
      let thread = ThreadID.current
      let (turn, counters) = lock.withLock { state in
        (admit(update, replacing: nil, from: thread, &state), state.counters)
      }
      for counter in counters { counter.check() }
      guard let turn else { return nil }
      return {
        self.deliver(update, turn)
        self.leave()
      }
    }
  }
}

extension AnyDelivery {
  /// The valve of its senders, once it has had a suspending subscriber.
  @usableFromInline @inline(__always)
  package var valve: SendValve? {
    let address = valveAddress.load(ordering: .acquiring)
    if address & 1 != 0 { return nil }
    guard let pointer = unsafe UnsafeRawPointer(bitPattern: address) else { return nil }
    return unsafe Unmanaged<SendValve>.fromOpaque(pointer).takeUnretainedValue()
  }

  /// Returns the valve, and makes it if there is none.
  ///
  /// Called under the lock.
  private func makeValve() -> SendValve {
    if let valve { return valve }
    let valve = SendValve(ofRun: valveAddress.load(ordering: .relaxed) & ~1)
    let pointer = unsafe Unmanaged.passRetained(valve).toOpaque()
    valveAddress.store(UInt(bitPattern: pointer), ordering: .releasing)
    return valve
  }

  /// Called once, by the deinitializer.
  func releaseValve() {
    guard let valve else { return }
    unsafe Unmanaged.passUnretained(valve).release()
  }

  /// Makes the delivery belong to a run that its callbacks retain.
  ///
  /// Called before the first subscription.
  @usableFromInline
  func setOwner(_ run: CallbackOwnedRun) {
    let pointer = unsafe Unmanaged.passUnretained(run).toOpaque()
    valveAddress.store(UInt(bitPattern: pointer) | 1, ordering: .releasing)
  }

  /// Passes on the holds of subscribers that attached while the run was starting.
  @usableFromInline
  func hasStarted(_ run: CallbackOwnedRun) {
    // Under the lock, because another thread may be about to attach.
    if let valve = lock.withLock({ _ in valve }) { run.passFlow(of: valve) }
  }

  /// Counts the queue for a suspending subscriber downstream.
  func count(for counter: InFlightCounter) {
    lock.withLock { $0.counters.append(counter) }
  }

  /// Attaches the counter of a subscription to this source.
  ///
  /// - Returns: The valve, or `nil` if the subscription has ended, and the run that owns the
  ///   delivery.
  @discardableResult
  func attachValve(
    _ counter: InFlightCounter, of token: Subscription
  ) -> (valve: SendValve?, run: CallbackOwnedRun?) {
    // Two shared runs that subscribe to each other would pass their holds around.
    if let valve, counter.root.isRelayed(to: valve) { return (nil, nil) }
    var resumptions = SenderResumptions()
    let attached = lock.withLock { state -> (SendValve?, CallbackOwnedRun?) in
      if token.slot == nil || state.schedule.hasEnded { return (nil, nil) }
      let valve = makeValve()
      counter.attach(valve, for: ObjectIdentifier(token), &resumptions)
      // The callback in the slot retains the run.
      return (valve, valve.run)
    }
    resumptions.run()
    return attached
  }

  @inline(__always)
  func detach(_ token: Subscription) {
    if let valve, !valve.hasRelay { valve.detach(token) }
  }

  /// Detaches a canceled subscription after its callback has been released, which may have
  /// stopped the run.
  ///
  /// A sender upstream must not continue before.
  @inline(__always)
  func detachFromOwnedRun(_ token: Subscription) {
    if let valve, valve.belongsToRun { valve.detach(token) }
  }

  /// Returns when the queued updates and the turn in progress are delivered, even in a canceled
  /// task.
  @usableFromInline
  func settled() async {
    await receipt()?.wait()
  }
}

extension Subscription {
  /// Detaches the subscription from a shared run.
  ///
  /// Elsewhere, its cancellation does.
  func detachFromRun() {
    (host as? AnyDelivery)?.valve?.detach(self)
  }
}

extension DeliveryState {
  /// Counts an update that is about to be queued, unless the delivering thread itself sends it.
  ///
  /// That thread delivers it before its call returns. The caller checks the counters after the
  /// lock.
  @usableFromInline
  func countQueued(from thread: ThreadID) -> [InFlightCounter] {
    if counters.isEmpty || schedule.deliverer == thread { return [] }
    for counter in counters { counter.count(1) }
    return counters
  }
}
