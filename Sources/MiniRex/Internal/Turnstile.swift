public import Synchronization

/// Lets one thread at a time deliver.
///
/// - resting: nobody delivers, and nothing waits to be delivered or released. Next: delivering.
/// - delivering: a turn runs; a thread that has entered without the lock stands here itself, for
///   the schedule does not know it yet. Next: resting, by its deliverer, or called, by anybody else.
/// - called: as before, and the deliverer has to look under the lock before it rests; or somebody
///   who holds the lock keeps deliverers out.
@usableFromInline
package struct Turnstile: ~Copyable, Sendable {
  @usableFromInline package let phase = Atomic<UInt>(Turnstile.resting)
  /// True if one may enter without the lock; then under it, too, only by an exchange.
  @usableFromInline let isOpen: Bool

  @inlinable package static var resting: UInt { 0 }
  @inlinable package static var called: UInt { 1 }
  @inlinable package static var delivering: UInt { 2 }

  @inlinable
  package init(isOpen: Bool = false) {
    self.isOpen = isOpen
  }

  /// True if the schedule knows who delivers, for one who holds the lock; else it is another one,
  /// or nobody.
  var isInSchedule: Bool {
    let phase = phase.load(ordering: .acquiring)
    return phase == Turnstile.called || phase == Turnstile.delivering
  }

  /// Never true for the deliverer.
  var isResting: Bool { phase.load(ordering: .acquiring) == Turnstile.resting }

  /// True if that thread, which asks, has entered without the lock and not been called.
  @inlinable @inline(__always)
  borrowing func hasLet(_ thread: ThreadID) -> Bool {
    phase.load(ordering: .relaxed) == thread.rawValue
  }

  /// True if the caller, who need not hold the lock, is now the deliverer.
  ///
  /// It looks first: an exchange that fails would take the word from whoever delivers.
  @inlinable @inline(__always)
  package borrowing func enter(as thread: ThreadID) -> Bool {
    phase.load(ordering: .relaxed) == Turnstile.resting
      && phase.compareExchange(
        expected: Turnstile.resting, desired: thread.rawValue, ordering: .acquiring
      ).exchanged
  }

  /// True if the caller, who holds the lock, is now the deliverer; else somebody else is.
  @inlinable
  package borrowing func enter() -> Bool {
    if isOpen { return exchange(Turnstile.resting, for: Turnstile.delivering) }
    if phase.load(ordering: .acquiring) != Turnstile.resting { return false }
    phase.store(Turnstile.delivering, ordering: .relaxed)
    return true
  }

  /// True if the caller, who holds the lock, now keeps deliverers out, until it calls `rest`.
  @inlinable
  package borrowing func close() -> Bool { exchange(Turnstile.resting, for: Turnstile.called) }

  /// Calls the deliverer, for one who holds the lock.
  ///
  /// - Returns: Whom the schedule has to know as the deliverer, or `nil` if it does; and false if
  ///   nobody delivers, so that there is nobody to call.
  @inlinable
  package borrowing func call() -> (isHeard: Bool, deliverer: ThreadID?) {
    while true {
      let phase = phase.load(ordering: .acquiring)
      switch phase {
      case Turnstile.resting: return (false, nil)
      case Turnstile.called: return (true, nil)
      default:
        if exchange(phase, for: Turnstile.called) {
          return (true, phase == Turnstile.delivering ? nil : ThreadID(rawValue: phase))
        }
      }
    }
  }

  /// False if somebody called: the deliverer has to look under the lock.
  @inlinable @inline(__always)
  package borrowing func leave() -> Bool {
    phase.compareExchange(
      expected: Turnstile.delivering, desired: Turnstile.resting, ordering: .releasing
    ).exchanged
  }

  /// The same for one who has entered without the lock.
  @inlinable @inline(__always)
  package borrowing func leave(as thread: ThreadID) -> Bool {
    phase.compareExchange(
      expected: thread.rawValue, desired: Turnstile.resting, ordering: .releasing
    ).exchanged
  }

  /// The deliverer, who holds the lock, has seen all that it was called for, or all but `more`.
  @inlinable
  package borrowing func answer(expectingMore more: Bool) {
    phase.store(more ? Turnstile.called : Turnstile.delivering, ordering: .relaxed)
  }

  /// The deliverer, or who keeps others out, has nothing left to do; it holds the lock.
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
