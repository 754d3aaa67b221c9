public import Synchronization

/// Admits one delivering thread at a time.
///
/// - resting: no thread delivers, and nothing is queued or to be released. → delivering
/// - delivering: a turn runs. The word is the identity of a thread that entered without the lock,
///   because the schedule does not know it. → resting (by the delivering thread), signaled (by any
///   other thread)
/// - signaled: a turn runs, and the delivering thread must look under the lock before it rests. The
///   state also excludes delivering threads while a thread holds the lock.
@usableFromInline
package struct Turnstile: ~Copyable, Sendable {
  @usableFromInline package let phase = Atomic<UInt>(Turnstile.resting)
  /// `true` if a thread may enter without the lock.
  ///
  /// Entering under the lock then needs an exchange as well.
  @usableFromInline let isOpen: Bool

  @inlinable package static var resting: UInt { 0 }
  @inlinable package static var signaled: UInt { 1 }
  @inlinable package static var delivering: UInt { 2 }

  @inlinable
  package init(isOpen: Bool = false) {
    self.isOpen = isOpen
  }

  /// `true` if the schedule knows the delivering thread.
  ///
  /// Called under the lock.
  var isInSchedule: Bool {
    let phase = phase.load(ordering: .acquiring)
    return phase == Turnstile.signaled || phase == Turnstile.delivering
  }

  /// `true` if the delivering thread must look under the lock.
  @inlinable @inline(__always)
  var isSignaled: Bool { phase.load(ordering: .relaxed) == Turnstile.signaled }

  /// Never `true` for the delivering thread.
  var isResting: Bool { phase.load(ordering: .acquiring) == Turnstile.resting }

  /// Returns `true` if the calling thread has entered without the lock and was not signaled.
  @inlinable @inline(__always)
  borrowing func hasEntered(_ thread: ThreadID) -> Bool {
    phase.load(ordering: .relaxed) == thread.rawValue
  }

  /// Returns `true` if the caller is now the delivering thread.
  ///
  /// It need not hold the lock.
  ///
  /// It reads first, because a failed exchange would take the cache line from the delivering
  /// thread.
  @inlinable @inline(__always)
  package borrowing func enter(as thread: ThreadID) -> Bool {
    phase.load(ordering: .relaxed) == Turnstile.resting
      && phase.compareExchange(
        expected: Turnstile.resting, desired: thread.rawValue, ordering: .acquiring
      ).exchanged
  }

  /// Returns `true` if the caller is now the delivering thread.
  ///
  /// Called under the lock.
  @inlinable
  package borrowing func enter() -> Bool {
    if isOpen { return exchange(Turnstile.resting, for: Turnstile.delivering) }
    if phase.load(ordering: .acquiring) != Turnstile.resting { return false }
    phase.store(Turnstile.delivering, ordering: .relaxed)
    return true
  }

  /// Returns `true` if the caller now excludes delivering threads, until it calls `rest`.
  ///
  /// Called under the lock.
  @inlinable
  package borrowing func close() -> Bool { exchange(Turnstile.resting, for: Turnstile.signaled) }

  /// Signals the delivering thread.
  ///
  /// Called under the lock.
  ///
  /// - Returns: Whether there is a delivering thread, and its identity if the schedule does not
  ///   know it.
  @inlinable
  package borrowing func signal() -> (hasDeliverer: Bool, deliverer: ThreadID?) {
    while true {
      let phase = phase.load(ordering: .acquiring)
      switch phase {
      case Turnstile.resting: return (false, nil)
      case Turnstile.signaled: return (true, nil)
      default:
        if exchange(phase, for: Turnstile.signaled) {
          return (true, phase == Turnstile.delivering ? nil : ThreadID(rawValue: phase))
        }
      }
    }
  }

  /// Returns `false` after a signal: the delivering thread must look under the lock.
  @inlinable @inline(__always)
  package borrowing func leave() -> Bool {
    phase.compareExchange(
      expected: Turnstile.delivering, desired: Turnstile.resting, ordering: .releasing
    ).exchanged
  }

  /// Returns `false` after a signal, for a thread that entered without the lock.
  @inlinable @inline(__always)
  package borrowing func leave(as thread: ThreadID) -> Bool {
    phase.compareExchange(
      expected: thread.rawValue, desired: Turnstile.resting, ordering: .releasing
    ).exchanged
  }

  /// Acknowledges the signals, except for `more`.
  ///
  /// Called by the delivering thread under the lock.
  @inlinable
  package borrowing func acknowledge(expectingMore more: Bool) {
    phase.store(more ? Turnstile.signaled : Turnstile.delivering, ordering: .relaxed)
  }

  /// Rests.
  ///
  /// Called under the lock, by the delivering thread or by the thread that excludes others.
  @inlinable
  package borrowing func rest() {
    phase.store(Turnstile.resting, ordering: .releasing)
  }

  @inlinable
  borrowing func exchange(_ expected: UInt, for desired: UInt) -> Bool {
    phase.compareExchange(
      expected: expected, desired: desired, ordering: .acquiringAndReleasing
    ).exchanged
  }
}
