/// Who is entitled to an update, and who has sent it.
@usableFromInline
package struct Ticket: Hashable, Sendable {
  /// The first and the last serial number of the subscribers that are entitled to the update.
  @usableFromInline package let first: UInt
  @usableFromInline package let last: UInt
  @usableFromInline package let sender: ThreadID

  @inlinable
  package init(first: UInt, last: UInt, sender: ThreadID) {
    self.first = first
    self.last = last
    self.sender = sender
  }

  /// An ended slot has the serial number 0, which is nobody's.
  @inlinable @inline(__always)
  package func admits(_ serial: UInt) -> Bool {
    serial &- first <= last &- first
  }
}

/// What the deliverer does next.
@usableFromInline
package enum Step: Hashable, Sendable {
  /// Release the callbacks that were ended during the turn.
  case release
  /// Wake those who wait for the turn to be over.
  case wake
  /// Deliver the update at the front of the queue.
  case deliver
  /// End every subscription: the source has ended, and all that it had accepted is delivered.
  case finish
  /// Stop, although there is more: whoever comes next goes on, or a Swift task.
  case handOver
  /// Stop delivering.
  case rest
}

/// Decides, under the lock, who delivers what to whom and when.
///
/// It knows no callback and no update, so a test can search all of its states.
@usableFromInline
package struct Schedule: Hashable, Sendable {
  /// How many updates of other threads one deliverer delivers before it hands over.
  @inlinable package static var patience: Int { 1_000 }

  /// The thread that runs turns; stale once it has rested, and `nil` between two deliverers.
  @usableFromInline package var deliverer: ThreadID?
  /// Each subscriber gets the next number, so that a larger one joined later.
  @usableFromInline package var lastSerial: UInt = 0
  @usableFromInline package var hasEnded = false
  @usableFromInline var foreignUpdates = 0
  /// A Swift task is on its way to go on, for the case that nobody comes.
  private var hasCalledTask = false
  /// True while the deliverer looks at no slot: what others end then is theirs to release, or they
  /// could keep it busy, and the table growing, for ever.
  @usableFromInline package var isBetweenTurns = false

  @inlinable package init() {}

  @inlinable
  package mutating func join() -> UInt {
    lastSerial += 1
    return lastSerial
  }

  /// An update is for everybody who has joined by now.
  @inlinable
  package func ticketForAll(from thread: ThreadID) -> Ticket {
    Ticket(first: 1, last: lastSerial, sender: thread)
  }

  /// A first value is for the newest subscriber alone.
  @inlinable
  package func ticketForNewest(from thread: ThreadID) -> Ticket {
    Ticket(first: lastSerial, last: lastSerial, sender: thread)
  }

  @inlinable @inline(__always)
  package mutating func begin(on thread: ThreadID) {
    deliverer = thread
    foreignUpdates = 0
    isBetweenTurns = false
  }

  /// For whoever finds the turnstile entered: true if its last deliverer has handed over, and
  /// nobody goes on yet, so that the caller now does.
  @usableFromInline
  package mutating func takeOver(on thread: ThreadID) -> Bool {
    if deliverer != nil { return false }
    begin(on: thread)
    return true
  }

  /// True if a task has to be called to go on; false if one is on its way.
  package mutating func callTask() -> Bool {
    defer { hasCalledTask = true }
    return !hasCalledTask
  }

  package mutating func taskHasBegun() {
    hasCalledTask = false
  }

  /// What is left to do after a turn.
  ///
  /// Releases come first, so that those who waited for the turn find them done.
  package mutating func next(
    front: Ticket?, unreleased: Bool, waiters: Bool, subscribers: Bool,
    patience: Int = Schedule.patience
  ) -> Step {
    isBetweenTurns = true
    if unreleased { return .release }
    if waiters { return .wake }
    guard let front else {
      if hasEnded && subscribers { return .finish }
      deliverer = nil
      return .rest
    }
    if front.sender != deliverer {
      if foreignUpdates == patience {
        deliverer = nil
        return .handOver
      }
      foreignUpdates += 1
    }
    isBetweenTurns = false
    return .deliver
  }
}
