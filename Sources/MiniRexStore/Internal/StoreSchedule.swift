public import MiniRex

/// What a thread has to do that comes with an action.
@usableFromInline
package enum StoreEntry: Hashable, Sendable {
  /// Reduce it: the thread now has the state.
  case reduce
  /// Leave it in the queue: the thread is in the reducer, and reduces it next.
  case queue
  /// Wait for another thread to be done with the state, and ask again.
  case wait
}

/// Decides, under the lock of the store's delivery, who changes the state and who begins effects.
///
/// It knows no state, no action and no callback, so a test can search all of its states. Who delivers
/// is decided by the delivery's own `Schedule`, into which a chain goes in the step that `release`s,
/// and what a chain is by `StoreChain`.
@usableFromInline
package struct StoreSchedule: Hashable, Sendable {
  /// A thread that begins effects, and how many of those it still has to begin came from inside.
  package struct Beginner: Hashable, Sendable {
    package let thread: ThreadID
    package var waiting = 0
  }

  @usableFromInline package var exclusive = Exclusive()
  /// The number of the last commit that can be read.
  @usableFromInline package var committed = 0
  package var beginners: [Beginner] = []

  @inlinable package init() {}

  @inlinable @inline(__always)
  package mutating func enter(on thread: ThreadID) -> StoreEntry {
    if exclusive.enter(on: thread) { return .reduce }
    return enterOccupied(on: thread)
  }

  @usableFromInline
  package mutating func enterOccupied(on thread: ThreadID) -> StoreEntry {
    exclusive.owner == thread ? .queue : .wait
  }

  /// Makes the changes readable: their events have to be admitted in the same locked step.
  ///
  /// - Returns: True if those who wait for the state have to be woken.
  @inlinable @inline(__always)
  package mutating func release(committing number: Int) -> Bool {
    committed = number
    return exclusive.leave()
  }

  /// - Returns: False if the thread begins others further down its stack, and these after them, so
  ///   that no beginning is inside another.
  package mutating func begin(_ count: Int, on thread: ThreadID) -> Bool {
    if let index = beginners.firstIndex(where: { $0.thread == thread }) {
      beginners[index].waiting += count
      return false
    }
    beginners.append(Beginner(thread: thread))
    return true
  }

  /// - Returns: How many came from inside while the thread began others; 0 if it is done.
  package mutating func nextBeginnings(on thread: ThreadID) -> Int {
    guard let index = beginners.firstIndex(where: { $0.thread == thread }) else { return 0 }
    let count = beginners[index].waiting
    beginners[index].waiting = 0
    if count == 0 { beginners.remove(at: index) }
    return count
  }
}
