/// The machine through which every source delivers.
///
/// One thread at a time delivers. Updates of other threads, and of its own callbacks, are queued in
/// FIFO order, so that subscribers agree on the order. Unchecked: the `lock` of the superclass guards
/// `queue`.
@usableFromInline
package final class Delivery<Update: Sendable>: AnyDelivery, @unchecked Sendable {
  /// A queued update, parallel to its ticket, and the value for its comparison.
  @usableFromInline
  struct Pending {
    @usableFromInline let update: Update
    @usableFromInline let replaced: Update?
    /// The carried values of the sender.
    @usableFromInline let carried: CarriedValues?
    /// The version of a value on which computed values depend, or 0.
    @usableFromInline var version: UInt = 0
    /// The batch that the update belongs to, if there is one.
    @usableFromInline var batch: WriteBatch?
    /// The counters of suspending subscribers that have counted it.
    @usableFromInline var counters: [InFlightCounter] = []

    @inlinable
    init(update: Update, replaced: Update?) {
      self.update = update
      self.replaced = replaced
      carried = .current
    }
  }

  @usableFromInline @exclusivity(unchecked) var queue = Queue<Pending>()
  /// Selects the updates of a published value that are skipped.
  @usableFromInline let comparison: Comparison<Update>

  /// - Parameter isOpen: `true` if `send` may enter without the lock. No subscriber may then join
  ///   with a first value during concurrent sends.
  @inlinable
  package init(isOpen: Bool = false, skippingDuplicates changeTest: ChangeTest<Update>? = nil) {
    comparison = Comparison(changeTest)
    super.init(isOpen: isOpen)
  }

  /// Subscribes to all updates from now on.
  @inlinable
  package func subscribe(_ receive: consuming @escaping @Sendable (Update) -> Void) -> Subscription
  {
    subscribe(ErasedCallback(receive))
  }

  /// Subscribes to all updates from the call of `first` on.
  ///
  /// For a delivery that no other code knows yet. `first` runs as part of a turn, so it may call
  /// the subscriber. Updates sent during that time follow.
  @inlinable
  func subscribe<Result>(
    _ token: Subscription, _ receive: @escaping @Sendable (Update) -> Void, first: () -> Result
  ) -> Result {
    let thread = ThreadID.current
    lock.withLock { state in
      if join(token, receive, &state) { _ = enter(on: thread, &state) }
    }
    let result = first()
    leave()
    return result
  }

  /// Returns `false` if the source has finished.
  ///
  /// Called under the lock.
  @inlinable
  package func join(
    _ token: Subscription, _ receive: @escaping @Sendable (Update) -> Void,
    _ state: inout DeliveryState
  ) -> Bool {
    guard let slot = state.join(token) else { return false }
    slot.setCallback(receive)
    if turnstile.isOpen { publish(state) }
    return true
  }

  /// Decides which thread makes the first call of a new subscriber.
  ///
  /// Called under the lock.
  ///
  /// The first value is a separate turn, for that subscriber only.
  @inlinable
  package func join(
    _ token: Subscription, _ receive: @escaping @Sendable (Update) -> Void, first value: Update,
    from thread: ThreadID, _ state: inout DeliveryState
  ) -> FirstCall {
    guard join(token, receive, &state) else { return .only }
    if enter(on: thread, &state) { return .asDeliverer }
    if state.schedule.deliverer == thread { return .nested }
    unsafe queue.append(Pending(update: value, replaced: nil))
    state.tickets.append(state.schedule.ticketForNewest(from: thread))
    return .queued
  }

  /// Makes the first call of a new subscriber, unless the call is queued.
  ///
  /// - Returns: `false` if the source has finished, so the subscriber receives no further calls.
  @inlinable
  package func makeFirstCall(
    _ call: FirstCall, _ receive: @Sendable (Update) -> Void, _ value: Update
  ) -> Bool {
    switch call {
    case .asDeliverer:
      receive(value)
      leave()
    case .nested, .only:
      receive(value)
    case .queued:
      break
    }
    return call != .only
  }

  /// - Returns: `false` if the update is queued, or has no subscriber.
  @inlinable @inline(__always) @discardableResult
  package func send(_ update: Update) -> Bool {
    let thread = ThreadID.current
    if turnstile.isOpen {
      if front.isEmpty { return false }
      if turnstile.enter(as: thread) {
        let turn = turn(of: thread)
        deliver(update, turn)
        leave(as: thread)
        return !turn.extent.isEmpty
      }
    }
    return sendUnderLock(update, from: thread)
  }

  @inlinable @inline(never)
  func sendUnderLock(_ update: Update, from thread: ThreadID) -> Bool {
    let (turn, counters) = lock.withLock { state in
      (admit(update, replacing: nil, from: thread, &state), state.counters)
    }
    for counter in counters { counter.check() }
    guard let turn else { return false }
    deliver(update, turn)
    leave()
    return true
  }

  /// Runs a turn of a thread that entered without the lock, for all subscribers that have joined by
  /// now, or by the time of a signal.
  @inlinable @inline(__always)
  func turn(of thread: ThreadID) -> Turn {
    let newest = front.newestSerial
    let wasCalled = !turnstile.hasEntered(thread)
    return Turn(
      lastSerial: wasCalled ? lastSerialAtCall() : newest, extent: front.extent)
  }

  /// Ends a turn that started without the lock.
  @inlinable @inline(__always)
  package func leave(as thread: ThreadID) {
    if !turnstile.leave(as: thread) { deliverQueued() }
  }

  /// Returns the turn that the caller must run, unless the update is queued or has no subscriber.
  ///
  /// Called under the lock.
  @inlinable @inline(__always)
  package func admit(
    _ update: @autoclosure () -> Update, replacing replaced: Update?, from thread: ThreadID,
    _ state: inout DeliveryState
  ) -> Turn? {
    guard state.table.count > 0, !state.schedule.hasEnded else {
      // A turn in progress must exclude subscribers that join later.
      if turnstile.isOpen { _ = signalDeliverer(&state) }
      return nil
    }
    // An extent exists once a subscriber has joined.
    let extent = unsafe state.table.extent.unsafelyUnwrapped
    while !turnstile.enter() {
      if signalDeliverer(&state) {
        return enqueue(update(), replacing: replaced, from: thread, extent, &state)
      }
    }
    state.schedule.begin(on: thread)
    return Turn(lastSerial: state.schedule.lastSerial, extent: extent)
  }

  /// Returns the turn of the last update, which the caller must run and leave through `group`.
  ///
  /// Called under the lock.
  @inlinable @inline(__always)
  func admitLast(_ update: Update, from thread: ThreadID, _ state: inout DeliveryState) -> Turn? {
    let turn = admit(update, replacing: nil, from: thread, &state)
    state.schedule.hasEnded = true
    if turn != nil { turnstile.acknowledge(expectingMore: true) }
    if state.table.count > 0 { queueEnd(by: turn != nil, &state) }
    return turn
  }

  /// Not inlined, so that the path of an update that is not queued stays short.
  @inlinable @inline(never)
  func enqueue(
    _ update: Update, replacing replaced: Update?, from thread: ThreadID, _ extent: Extent,
    _ state: inout DeliveryState
  ) -> Turn? {
    var pending = Pending(update: update, replaced: replaced)
    pending.counters = state.countQueued(from: thread)
    unsafe queue.append(pending)
    state.tickets.append(state.schedule.ticketForAll(from: thread))
    return state.schedule.takeOver(on: thread) ? Turn(lastSerial: 0, extent: extent) : nil
  }

  /// The updates in the queue, oldest first, including the first values of new subscribers.
  package var queuedUpdates: [Update] {
    lock.withLock { _ in unsafe queue.elements.map(\.update) }
  }

  /// Finishes the source: accepted updates are delivered, then the subscriptions end.
  @inlinable
  package func end() {
    let thread = ThreadID.current
    if lock.withLock({ end(on: thread, &$0) }) { deliverQueued() }
  }

  override func join(_ barrier: GlitchBarrier) -> Bool {
    lock.withLock { state in
      // Written first, because a turn without the lock may reach a published barrier.
      barrier.serial.relaxed = state.schedule.lastSerial + 1
      guard join(barrier.token, { _ in barrier.call() }, &state) else { return false }
      barrier.isCounted.relaxed = true
      state.barrierCount += 1
      return true
    }
  }
}
