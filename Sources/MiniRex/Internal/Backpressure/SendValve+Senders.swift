extension SendValve {
  /// Enters, or appends the sender.
  func enter(_ sender: SuspendedSender) -> ValveState<SuspendedSender>.Entry {
    withState { state, _ in state.senders.enter(sender) }
  }

  /// Removes a canceled sender, which then sends nothing.
  func cancel(_ place: UInt) {
    withState { state, resumptions in
      if let sender = state.senders.remove(place) { resumptions.refuse(sender) }
    }
  }

  /// Suspends the task until it is inside.
  @usableFromInline
  func suspend() async throws(CancellationError) {
    let task = SuspendedTasks.current
    let sender = SuspendedSender(task)
    switch enter(sender) {
    case .entered: return
    case .refused: throw CancellationError()
    case .suspended(let place):
      SuspendedTasks.add(task, at: self)
      defer { SuspendedTasks.remove(task) }
      if SuspendedTasks.isExempt(task, at: self) { admit(place) }
      await withTaskCancellationHandler {
        unsafe await withUnsafeContinuation { unsafe sender.wait(with: Waiter($0)) }
      } onCancel: {
        cancel(place)
      }
      if sender.outcome == .refused { throw CancellationError() }
    }
  }

  /// Admits a suspended sender although the valve is held.
  ///
  /// If another sender is inside, this is decided again after its delivery.
  func admit(_ place: UInt) {
    withState { state, resumptions in
      if let sender = state.senders.admit(place) { resumptions.admit(sender) }
    }
  }

  /// The suspended senders and their places, in their order.
  var suspendedSenders: [(place: UInt, sender: SuspendedSender)] {
    state.withLock { state in
      state.senders.places.compactMap { place in
        state.senders.suspended[place].map { (place, $0) }
      }
    }
  }

  /// Delivers an update as soon as no subscriber is full.
  @inlinable
  func send<Update>(
    _ update: Update, to source: BroadcastSource<Update>
  ) async throws(CancellationError) {
    if Task.isCancelled { throw CancellationError() }
    if !enter() { try await suspend() }
    defer { leave() }
    try await source.deliver(update)
  }

  /// Runs the body on this thread as soon as no subscriber is full, and blocks until then.
  ///
  /// For a thread that reads for subscribers. Returns `nil`, without running the body, after the
  /// end of the valve.
  package func pass<Result, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result? {
    if !enter(), !park() { return nil }
    defer { leave() }
    return try body()
  }

  private func park() -> Bool {
    let sender = SuspendedSender(0)
    switch enter(sender) {
    case .entered: return true
    case .refused: return false
    case .suspended:
      sender.park()
      return sender.outcome == .entered
    }
  }
}

extension SendValve {
  /// The stalled subscribers, including those behind `share`.
  var slowSubscribers: [SlowSubscriber] {
    var seen: Set<ObjectIdentifier> = []
    var slow: [SlowSubscriber] = []
    collect(holders, &slow, &seen)
    return slow
  }

  /// - Parameters:
  ///   - count: The updates before a shared subscription.
  ///   - stall: The duration for which they have had no room.
  private func collect(
    _ holders: [InFlightCounter], adding count: Int = 0, for stall: Duration? = nil,
    _ slow: inout [SlowSubscriber], _ seen: inout Set<ObjectIdentifier>
  ) {
    for counter in holders where seen.insert(ObjectIdentifier(counter.root)).inserted {
      if let relayed = counter.relayedHolders(adding: count) {
        collect(relayed, adding: count + counter.total, for: counter.stall ?? stall, &slow, &seen)
      } else if let subscriber = counter.slowSubscriber(adding: count, for: stall) {
        slow.append(subscriber)
      }
    }
  }
}
