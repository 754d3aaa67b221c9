public import MiniRex
public import Synchronization

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

/// Gives the state of a store to one thread at a time.
///
/// One word, so that a thread comes and goes in one step each. It is no lock: the code of the user runs
/// behind it, and what must not be done there is found out rather than waited for.
///
/// - free: nobody has the state. Next: taken.
/// - taken: a thread has it. Next: free, by that thread, or awaited, by any other.
/// - awaited: as before, and that thread has to wake others when it goes. Next: free.
@usableFromInline
package struct StoreGate: ~Copyable, Sendable {
  /// The thread that has the state, whose number is even because it is an address; one more if it is
  /// awaited; 0 if the state is free.
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

  /// Under the lock under which it is woken: true if the thread has to sleep until then.
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

  /// The state can be read: the events of all its changes have been admitted.
  ///
  /// - Returns: True if those who sleep have to be woken.
  @inlinable @inline(__always)
  package borrowing func leave() -> Bool {
    word.exchange(0, ordering: .releasing) & 1 != 0
  }
}
