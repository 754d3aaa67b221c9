/// The subscribers that an update is for, and its sender.
@usableFromInline
package struct Ticket: Hashable, Sendable {
  /// The serial numbers of the first and the last subscriber that the update is for.
  @usableFromInline package let first: UInt
  @usableFromInline package let last: UInt
  @usableFromInline package let sender: ThreadID

  @inlinable
  package init(first: UInt, last: UInt, sender: ThreadID) {
    self.first = first
    self.last = last
    self.sender = sender
  }

  /// The slot of an ended subscription has the serial number 0, which no subscriber has.
  @inlinable @inline(__always)
  package func admits(_ serial: UInt) -> Bool {
    serial &- first <= last &- first
  }
}

/// The next step of the delivering thread.
@usableFromInline
package enum Step: Hashable, Sendable {
  /// Release the callbacks that were canceled during the turn.
  case release
  /// Wake the threads that wait for the end of the turn.
  case wake
  /// Deliver the update at the front of the queue.
  case deliver
  /// End all subscriptions: the source has finished, and its accepted updates are delivered.
  case finish
  /// Stop before the queue is empty.
  ///
  /// The next sender continues, or a Swift task.
  case handOver
  /// Stop delivering.
  case rest
}

/// Decides, under the lock, which thread delivers which update to which subscribers.
///
/// It knows no callbacks and no updates, so a test can search all of its states.
@usableFromInline
package struct Schedule: Hashable, Sendable {
  /// The number of updates of other threads that one thread delivers before it hands over.
  @inlinable package static var patience: Int { 1_000 }

  /// The delivering thread.
  ///
  /// Stale after it rests, and `nil` between two delivering threads.
  @usableFromInline package var deliverer: ThreadID?
  /// The serial number of the newest subscriber.
  ///
  /// Numbers increase with each subscription.
  @usableFromInline package var lastSerial: UInt = 0
  @usableFromInline package var hasEnded = false
  @usableFromInline var foreignUpdates = 0
  /// `true` if a Swift task will continue the delivery, unless a sender does.
  private var hasCalledTask = false
  /// `true` while the delivering thread reads no slot.
  ///
  /// Other threads then release the callbacks that they cancel. Otherwise, they could keep it busy
  /// and let the table grow indefinitely.
  @usableFromInline package var isBetweenTurns = false

  @inlinable package init() {}

  @inlinable
  package mutating func join() -> UInt {
    lastSerial += 1
    return lastSerial
  }

  /// An update is for all subscribers that have joined by now.
  @inlinable
  package func ticketForAll(from thread: ThreadID) -> Ticket {
    Ticket(first: 1, last: lastSerial, sender: thread)
  }

  /// A first value is for the newest subscriber only.
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

  /// Makes `thread` the delivering thread, unless there is one already.
  ///
  /// The caller has found the turnstile entered. After a handover, it stays entered without a
  /// delivering thread.
  ///
  /// - Returns: `true` if `thread` has taken over.
  @usableFromInline
  package mutating func takeOver(on thread: ThreadID) -> Bool {
    if deliverer != nil { return false }
    begin(on: thread)
    return true
  }

  /// Returns `true` if the caller must start a Swift task, and `false` if one is already on its
  /// way.
  package mutating func callTask() -> Bool {
    defer { hasCalledTask = true }
    return !hasCalledTask
  }

  package mutating func taskHasBegun() {
    hasCalledTask = false
  }

  /// Returns the next step after a turn.
  ///
  /// Releases come first, so that they are complete for the threads that waited for the turn.
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
