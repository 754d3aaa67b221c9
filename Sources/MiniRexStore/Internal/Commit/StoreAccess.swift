public import MiniRex
public import Synchronization

/// The next step of a thread that sends an action.
@usableFromInline
package enum StoreEntry: Hashable, Sendable {
  /// Reduce the action.
  ///
  /// The thread now has exclusive access.
  case reduce
  /// Queue the action.
  ///
  /// The thread already has exclusive access, and handles all queued actions before it releases the
  /// state.
  case queue
  /// Wait until another thread releases the state, and enter again.
  case wait
}

/// Gives exclusive access to the state of a store to one thread at a time.
///
/// Entering and leaving are one atomic operation each. Not a lock: user code runs inside, so
/// re-entry is detected instead of deadlocking.
///
/// - free: no thread has access → taken.
/// - taken: one thread has access → free, by that thread, or awaited, by another thread.
/// - awaited: as taken, and the thread wakes the waiting threads when it leaves → free.
@usableFromInline
package struct StoreAccess: ~Copyable, Sendable {
  /// The thread with access, 0 if the state is free.
  ///
  /// A thread number is an address and therefore even. Bit 0 is set if other threads wait.
  @usableFromInline package let word = Atomic<UInt>(0)

  @inlinable package init() {}

  @inlinable @inline(__always)
  package var isFree: Bool { word.load(ordering: .relaxed) == 0 }

  @inlinable @inline(__always)
  package borrowing func enter(on thread: ThreadID) -> StoreEntry {
    let seen = word.compareExchange(
      expected: 0, desired: thread.rawValue, ordering: .acquiring)
    if seen.exchanged { return .reduce }
    return seen.original | 1 == thread.rawValue | 1 ? .queue : .wait
  }

  /// Prepares to sleep.
  ///
  /// Call this under the lock that guards the wake-up.
  ///
  /// - Returns: `true` if the thread must sleep until it is woken.
  package borrowing func wait() -> Bool {
    var seen = word.load(ordering: .relaxed)
    while seen != 0 {
      let (isDone, now) = word.weakCompareExchange(
        expected: seen, desired: seen | 1, ordering: .relaxed)
      if isDone { return true }
      seen = now
    }
    return false
  }

  /// Releases the state, after the events of all its commits were admitted to the delivery.
  ///
  /// - Returns: `true` if sleeping threads must be woken.
  @inlinable @inline(__always)
  package borrowing func leave() -> Bool {
    word.exchange(0, ordering: .releasing) & 1 != 0
  }
}
