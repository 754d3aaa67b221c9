/// What a source keeps under its lock, whatever the type of its updates.
@usableFromInline
package struct DeliveryState: ~Copyable, Sendable {
  @usableFromInline package var schedule = Schedule()
  @usableFromInline package var table = SlotTable()
  @usableFromInline var tickets = Queue<Ticket>()
  /// The last who had joined when the deliverer, who has entered without the lock, was called.
  private(set) var lastSerialAtCall: UInt = 0
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

  /// False if the source has ended, and the callback is still the caller's.
  @usableFromInline
  mutating func join(_ token: Subscription, _ callback: LooseCallback) -> Bool {
    guard let slot = join(token) else { return false }
    slot.setCallback(callback)
    return true
  }

  /// For a deliverer who has entered without the lock.
  mutating func begin(on deliverer: ThreadID) {
    schedule.begin(on: deliverer)
    lastSerialAtCall = schedule.lastSerial
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
