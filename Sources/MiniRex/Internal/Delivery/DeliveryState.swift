/// The state of a source that its lock guards, independent of the type of its updates.
@usableFromInline
package struct DeliveryState: ~Copyable, Sendable {
  @usableFromInline package var schedule = Schedule()
  @usableFromInline package var table = SlotTable()
  @usableFromInline var tickets = Queue<Ticket>()
  /// The serial number of the newest subscriber when the delivering thread, which entered without
  /// the lock, was signaled.
  private(set) var lastSerialAtCall: UInt = 0
  /// The groups that wait for the turn in progress.
  var groups: [WaitGroup] = []
  /// The groups that wait until a number of updates has been taken from the queue, and their turns
  /// have ended.
  private var receipts: [(count: UInt, group: WaitGroup)] = []
  private var takenCount: UInt = 0
  /// The counters of the suspending subscribers, if the delivery stands between sources and them.
  @usableFromInline var counters: [InFlightCounter] = []

  /// The combinations that may have queued its updates.
  var followers: [QueueFollower] = []
  /// The number of barriers of combinations.
  var barrierCount = 0

  var endCalls = EndCalls()
  /// The carried values of the sender that finished the source, unless it delivers the end.
  var endValues: CarriedValues?

  init() {}

  /// Counts a barrier no longer.
  ///
  /// Two threads may remove it: one replaces it while the other ends its combination.
  mutating func discount(_ barrier: GlitchBarrier) {
    guard barrier.isCounted.relaxed else { return }
    barrier.isCounted.relaxed = false
    barrierCount -= 1
  }

  /// Returns `nil` if the source has finished.
  @usableFromInline
  mutating func join(_ token: Subscription) -> Slot? {
    if schedule.hasEnded { return nil }
    return table.append(serial: schedule.join(), token: token)
  }

  /// Returns `false` if the source has finished.
  ///
  /// The callback then stays with the caller.
  @usableFromInline
  mutating func join(_ token: Subscription, _ callback: ErasedCallback) -> Bool {
    guard let slot = join(token) else { return false }
    slot.setCallback(callback)
    return true
  }

  /// Registers a delivering thread that entered without the lock.
  mutating func begin(on deliverer: ThreadID) {
    schedule.begin(on: deliverer)
    lastSerialAtCall = schedule.lastSerial
  }

  mutating func nextStep() -> Step {
    schedule.next(
      front: tickets.first, unreleased: table.hasEnded, waiters: !groups.isEmpty || hasReceipt,
      subscribers: table.count > 0)
  }

  /// `true` if the delivering thread must look under the lock after the next turn.
  var expectsMore: Bool { tickets.count > 0 || schedule.hasEnded || !receipts.isEmpty }

  private var hasReceipt: Bool {
    if let first = receipts.first { first.count <= takenCount } else { false }
  }

  /// Adds a group that waits for the queued updates and the turn in progress.
  mutating func addReceipt(_ group: WaitGroup) {
    receipts.append((takenCount + UInt(tickets.count), group))
  }

  /// Returns `false` if it has already been taken.
  mutating func removeReceipt(_ group: WaitGroup) -> Bool {
    guard let index = receipts.firstIndex(where: { $0.group === group }) else { return false }
    receipts.remove(at: index)
    return true
  }

  /// Takes the groups for which the last turn was the last to wait for.
  mutating func takeDrains() -> [WaitGroup] {
    let ready = receipts.prefix { $0.count <= takenCount }.map(\.group)
    receipts.removeFirst(ready.count)
    defer { groups = [] }
    return groups + ready
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

/// The progress of the turn, as far as barriers are concerned.
///
/// After a turn, and in a turn without subscribers, no subscriber is left to call.
@usableFromInline
package struct TurnProgress: Hashable, Sendable {
  /// The serial number of the last subscriber of the turn.
  @usableFromInline let lastSerial: UInt
  /// The serial number of the barrier that was reached last.
  @usableFromInline package var passed: UInt = 0

  @inlinable @inline(__always)
  package init(lastSerial: UInt) {
    self.lastSerial = lastSerial
  }

  package func isAbout(toCall serial: UInt) -> Bool { passed < serial && serial <= lastSerial }
}
