internal import Synchronization

/// What a source keeps under its lock, whatever the type of its updates.
@usableFromInline
package struct DeliveryState: ~Copyable, Sendable {
  @usableFromInline package var schedule = Schedule()
  @usableFromInline package var table = SlotTable()
  @usableFromInline var tickets = Queue<Ticket>()
  /// Those who wait for the turn in progress to be over.
  var drains: [Drain] = []
  /// Those who wait until so many updates have been taken from the queue, and their turns are over.
  private var receipts: [(count: UInt, drain: Drain)] = []
  private var takenCount: UInt = 0

  init() {}

  /// `nil` if the source has ended.
  @usableFromInline
  mutating func join(_ token: Subscription) -> Slot? {
    if schedule.hasEnded { return nil }
    return table.append(serial: schedule.join(), token: token)
  }

  mutating func nextStep() -> Step {
    schedule.next(
      front: tickets.first, unreleased: table.hasEnded, waiters: !drains.isEmpty || hasReceipt,
      subscribers: table.count > 0)
  }

  /// True if the deliverer has to look under the lock after the next turn.
  var expectsMore: Bool { tickets.count > 0 || schedule.hasEnded || !receipts.isEmpty }

  private var hasReceipt: Bool {
    if let first = receipts.first { first.count <= takenCount } else { false }
  }

  /// For what is in the queue now, and the turn in progress.
  mutating func addReceipt(_ drain: Drain) {
    receipts.append((takenCount + UInt(tickets.count), drain))
  }

  /// False if it has been taken already.
  mutating func removeReceipt(_ drain: Drain) -> Bool {
    guard let index = receipts.firstIndex(where: { $0.drain === drain }) else { return false }
    receipts.remove(at: index)
    return true
  }

  /// Those for whom the turn that is over was the last to wait for.
  mutating func takeDrains() -> [Drain] {
    let ready = receipts.prefix { $0.count <= takenCount }.map(\.drain)
    receipts.removeFirst(ready.count)
    defer { drains = [] }
    return drains + ready
  }

  mutating func nextTurn() -> QueuedTurn? {
    guard let ticket = tickets.popFirst() else { return nil }
    takenCount += 1
    let isForOne = ticket.first == ticket.last
    let extent = isForOne ? table.extent(of: ticket.first) : table.extent
    if tickets.count == 0 { table.forgetLastFound() }
    return QueuedTurn(ticket: ticket, extent: extent)
  }
}

/// Where the deliverer is in the turn in progress, as far as last slots are concerned.
///
/// When the turn is over it says that there is nobody left to call, and so it does in a turn that
/// does not get as far as the subscribers.
@usableFromInline
package struct Visit: Hashable, Sendable {
  /// The last subscriber that the turn is for.
  @usableFromInline let lastSerial: UInt
  /// The last slot that was called last.
  @usableFromInline package var passed: UInt = 0

  @inlinable @inline(__always)
  package init(lastSerial: UInt) {
    self.lastSerial = lastSerial
  }

  package func isAbout(toCall serial: UInt) -> Bool { passed < serial && serial <= lastSerial }
}

/// The part of a source's machine that its tokens know.
///
/// It is not generic, because a token calls it dynamically, and what a generic class overrides is
/// never specialised. Unchecked like every `SubscriptionHost`: its state is in a `Lock`.
@usableFromInline
package class AnyDelivery: SubscriptionHost, @unchecked Sendable {
  @usableFromInline package let lock = Lock(DeliveryState())
  @usableFromInline let turnstile = Turnstile()
  /// Unchecked: the deliverer's own, who hands it over with the turnstile.
  @usableFromInline @exclusivity(unchecked) final var visit = Visit(lastSerial: 0)
  /// What it follows in turns of another source, if it does.
  private let input = AtomicLazyReference<WeakToken>()
  let release: CallbackRelease

  @usableFromInline
  init(release: CallbackRelease) {
    self.release = release
  }

  @usableFromInline package var subscriberCount: Int { lock.withLock { $0.table.count } }

  @usableFromInline package var hasEnded: Bool { lock.withLock { $0.schedule.hasEnded } }

  @usableFromInline package var pendingUpdates: Int { lock.withLock { $0.tickets.count } }

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
    if turnstile.isResting { return false }
    return lock.withLock { state in
      unsafe state.schedule.deliverer == thread && visit.isAbout(toCall: last.serial)
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
  func end(_ last: LastSlot, from thread: ThreadID, _ callback: inout EndedCallback) -> Bool {
    lock.withLock { state in
      if unsafe last.replacement == 0 { unsafe last.replacement = state.schedule.lastSerial }
      if let next = state.tickets.first, unsafe next.last < last.replacement { return false }
      if turnIsRunning(&state),
        unsafe state.schedule.deliverer != thread || visit.isAbout(toCall: last.serial)
      {
        return false
      }
      callback = remove(last.token, from: &state)
      return true
    }
  }

  override func end(_ token: Subscription) {
    var callback = EndedCallback.none
    lock.withLock { callback = remove(token, from: &$0) }
    release(&callback)
  }

  override func end(_ token: Subscription, for drain: Drain) {
    let thread = ThreadID.current
    var callback = EndedCallback.none
    lock.withLock { state in
      callback = remove(token, from: &state)
      if state.schedule.deliverer == thread || !turnIsRunning(&state) { return }
      drain.expect()
      state.drains.append(drain)
    }
    release(&callback)
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
      if !turnIsRunning(&state), state.tickets.count == 0 { return nil }
      let receipt = Drain(awaitingWork: false, asker: nil)
      receipt.expect()
      state.addReceipt(receipt)
      return receipt
    }
  }

  /// Ends the token, and returns its callback if it has to be released after the lock.
  @inline(__always)
  private func remove(_ token: Subscription, from state: inout DeliveryState) -> EndedCallback {
    guard let slot = token.slot else { return .none }
    if turnIsRunning(&state) {
      state.table.removeLater(slot)
      return .none
    }
    let callback = state.table.remove(slot)
    state.table.tidy()
    return callback
  }

  /// True if a deliverer may be looking at the slots; it then comes to the lock before it rests.
  private func turnIsRunning(_ state: inout DeliveryState) -> Bool {
    state.schedule.deliverer != nil && !state.schedule.isBetweenTurns && turnstile.call()
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
    guard turnstile.enter() else { return state.schedule.takeOver(on: thread) }
    state.schedule.begin(on: thread)
    return true
  }

  /// Under the lock, for the task that was called: true if nobody else has gone on by now.
  @usableFromInline
  func enter(asTaskOn thread: ThreadID, _ state: inout DeliveryState) -> Bool {
    state.schedule.taskHasBegun()
    return turnstile.call() && state.schedule.takeOver(on: thread)
  }

  /// Does what is left to do after a turn, until there is another turn to run.
  ///
  /// - Parameter pop: Takes the turn's update from the queue, under the lock.
  @usableFromInline
  func proceed(pop: () -> Void) -> NextTurn {
    while true {
      var callback = EndedCallback.none
      var drains: [Drain] = []
      var turn: QueuedTurn?
      var callsTask = false
      let step = lock.withLock { state in
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
        case .deliver:
          state.table.tidy()
          turn = state.nextTurn()
          pop()
          turnstile.answer(expectingMore: state.expectsMore)
        case .handOver:
          state.table.tidy()
          callsTask = state.schedule.callTask()
        case .rest:
          state.table.tidy()
          turnstile.rest()
        }
        return step
      }
      switch step {
      case .release: Drain.collect(drains) { release(&callback) }
      case .wake: for drain in drains { drain.comeBack() }
      case .finish: release(&callback)
      case .deliver: if let turn { return .turn(turn) }
      case .handOver: return callsTask ? .callTask : .rest
      case .rest: return .rest
      }
    }
  }
}
