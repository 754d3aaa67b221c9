public import Synchronization

/// Lets one thread at a time deliver: entered under the lock, left without it.
///
/// - resting: nobody delivers, and nothing waits to be delivered or released. Next: delivering.
/// - delivering: a turn runs. Next: resting, by its deliverer, or called, by anybody else.
/// - called: as before, and the deliverer has to look under the lock before it rests.
@usableFromInline
package struct Turnstile: ~Copyable, Sendable {
  @usableFromInline package let phase = Atomic<UInt8>(Turnstile.resting)

  @inlinable package static var resting: UInt8 { 0 }
  @inlinable package static var delivering: UInt8 { 1 }
  @inlinable package static var called: UInt8 { 2 }

  @inlinable package init() {}

  /// Never true for the deliverer.
  var isResting: Bool { phase.load(ordering: .acquiring) == Turnstile.resting }

  /// True if the caller, who holds the lock, is now the deliverer; else the deliverer is called.
  @inlinable
  package borrowing func enter() -> Bool {
    if call() { return false }
    phase.store(Turnstile.delivering, ordering: .relaxed)
    return true
  }

  /// False if nobody delivers, so that there is nobody to call.
  @inlinable
  package borrowing func call() -> Bool {
    if phase.load(ordering: .acquiring) == Turnstile.resting { return false }
    let seen = phase.compareExchange(
      expected: Turnstile.delivering, desired: Turnstile.called, ordering: .acquiringAndReleasing)
    return seen.original != Turnstile.resting
  }

  /// False if somebody called: the deliverer has to look under the lock.
  @inlinable @inline(__always)
  package borrowing func leave() -> Bool {
    phase.compareExchange(
      expected: Turnstile.delivering, desired: Turnstile.resting, ordering: .releasing
    ).exchanged
  }

  /// The deliverer, who holds the lock, has seen all that it was called for, or all but `more`.
  @inlinable
  package borrowing func answer(expectingMore more: Bool) {
    phase.store(more ? Turnstile.called : Turnstile.delivering, ordering: .relaxed)
  }

  /// The deliverer, who holds the lock, has nothing left to do.
  @inlinable
  package borrowing func rest() {
    phase.store(Turnstile.resting, ordering: .releasing)
  }
}
