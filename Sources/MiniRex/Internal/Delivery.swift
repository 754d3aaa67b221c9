/// The machine through which every source delivers.
///
/// One thread at a time is the deliverer. What others send meanwhile, or its own callbacks, waits
/// in the queue, first in, first out, so that subscribers agree on the order. Unchecked like every
/// `SubscriptionHost`: `queue` is guarded by the `lock` of the superclass.
@usableFromInline
package final class Delivery<Update: Sendable>: AnyDelivery, @unchecked Sendable {
  /// An update in the queue, in step with its ticket, and the value it is compared with.
  @usableFromInline
  struct Pending {
    @usableFromInline let update: Update
    @usableFromInline let replaced: Update?

    @inlinable
    init(update: Update, replaced: Update?) {
      self.update = update
      self.replaced = replaced
    }
  }

  /// Unchecked: guarded by `lock`.
  @usableFromInline @exclusivity(unchecked) var queue = Queue<Pending>()
  /// Tells which updates of a published value are left out.
  @usableFromInline let comparison: Comparison<Update>

  /// - Parameter isOpen: True if `send` need not lock; then nobody joins with a first value while
  ///   others may send.
  @inlinable
  package init(isOpen: Bool = false, skippingDuplicates changeTest: ChangeTest<Update>? = nil) {
    comparison = Comparison(changeTest)
    super.init(isOpen: isOpen)
  }

  /// Gives the subscriber what is sent from now on.
  @inlinable
  package func subscribe(_ receive: consuming @escaping @Sendable (Update) -> Void) -> Subscription
  {
    subscribe(LooseCallback(receive))
  }

  /// Gives the subscriber what is sent from the time on at which `first` is called.
  ///
  /// For a delivery that nobody else knows yet. `first` is called as part of a turn, so it may call
  /// the subscriber itself: what is sent meanwhile follows.
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

  /// Under the lock: false if the source has ended.
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

  /// Under the lock: who makes the first call of the subscriber that joins.
  ///
  /// The first value of a subscriber is a turn of its own, for that subscriber alone.
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

  /// - Returns: False if nobody has joined, and this was the only call.
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

  /// - Returns: False if it waits, or interests nobody.
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
    guard let turn = lock.withLock({ admit(update, replacing: nil, from: thread, &$0) }) else {
      return false
    }
    deliver(update, turn)
    leave()
    return true
  }

  /// The turn of a thread that has entered without the lock: for everybody who has joined by now, or
  /// by the time at which somebody called.
  @inlinable @inline(__always)
  func turn(of thread: ThreadID) -> Turn {
    let newest = front.newestSerial
    let wasCalled = !turnstile.hasLet(thread)
    return Turn(
      lastSerial: wasCalled ? lastSerialAtCall() : newest, extent: front.extent)
  }

  /// The end of a turn that has begun without the lock.
  @inlinable @inline(__always)
  package func leave(as thread: ThreadID) {
    if !turnstile.leave(as: thread) { drain() }
  }

  /// Under the lock: the turn that the caller has to run, unless the update waits or interests
  /// nobody.
  @inlinable @inline(__always)
  package func admit(
    _ update: @autoclosure () -> Update, replacing replaced: Update?, from thread: ThreadID,
    _ state: inout DeliveryState
  ) -> Turn? {
    guard state.table.count > 0, !state.schedule.hasEnded else {
      // A turn that has begun must not be for those who join after this.
      if turnstile.isOpen { _ = call(&state) }
      return nil
    }
    // Where somebody is, there is an extent.
    let extent = unsafe state.table.extent.unsafelyUnwrapped
    while !turnstile.enter() {
      if call(&state) {
        return enqueue(update(), replacing: replaced, from: thread, extent, &state)
      }
    }
    state.schedule.begin(on: thread)
    return Turn(lastSerial: state.schedule.lastSerial, extent: extent)
  }

  /// Under the lock, for the update that ends the source: the turn that the caller has to run, and
  /// to leave by `drain`.
  @inlinable @inline(__always)
  func admitLast(_ update: Update, from thread: ThreadID, _ state: inout DeliveryState) -> Turn? {
    let turn = admit(update, replacing: nil, from: thread, &state)
    state.schedule.hasEnded = true
    if turn != nil { turnstile.answer(expectingMore: true) }
    return turn
  }

  /// Not inlined, so that the way of an update that need not wait stays short.
  @inlinable @inline(never)
  func enqueue(
    _ update: Update, replacing replaced: Update?, from thread: ThreadID, _ extent: Extent,
    _ state: inout DeliveryState
  ) -> Turn? {
    unsafe queue.append(Pending(update: update, replaced: replaced))
    state.tickets.append(state.schedule.ticketForAll(from: thread))
    return state.schedule.takeOver(on: thread) ? Turn(lastSerial: 0, extent: extent) : nil
  }

  /// Ends the source: what it has accepted is still delivered, then its subscriptions end.
  @inlinable
  package func end() {
    let thread = ThreadID.current
    if lock.withLock({ end(on: thread, &$0) }) { drain() }
  }

  override func join(_ last: LastSlot) -> Bool {
    lock.withLock { state in
      guard join(last.token, { _ in last.call() }, &state) else { return false }
      unsafe last.serial = state.schedule.lastSerial
      return true
    }
  }

  /// An ended slot has the serial number 0, which is nobody's.
  @inlinable @inline(__always)
  package func deliver(_ update: Update, _ turn: Turn) {
    unsafe visit = Visit(lastSerial: turn.lastSerial)
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
    if let replaced = pending.replaced,
      !comparison.isChange(from: replaced, to: pending.update)
    {
      return
    }
    // A first value is for nobody's last slot.
    unsafe visit = Visit(lastSerial: turn.ticket.first == 1 ? turn.ticket.last : 0)
    turn.extent?.visit { slot in
      if turn.ticket.admits(slot.serial) {
        unsafe slot.callback(of: Update.self).pointee(pending.update)
      }
    }
  }

  /// The end of a turn.
  @inlinable @inline(__always)
  package func leave() {
    if !turnstile.leave() { drain() }
  }

  /// Not inlined, nor is `goOnAsTask`: they are not on the way of an update that meets no other.
  @inlinable @inline(never)
  func drain() {
    while true {
      var pending: Pending?
      switch proceed(pop: { pending = unsafe queue.popFirst() }) {
      case .turn(let turn):
        if let pending { deliver(pending, turn) }
      case .callTask:
        Task.detached { self.goOnAsTask() }
        return
      case .rest:
        return
      }
      pending = nil
      if turnstile.leave() { return }
    }
  }

  @inlinable @inline(never)
  func goOnAsTask() {
    let thread = ThreadID.current
    if lock.withLock({ enter(asTaskOn: thread, &$0) }) { drain() }
  }
}
