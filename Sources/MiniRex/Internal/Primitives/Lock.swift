public import Synchronization

/// The lock of the package.
///
/// Only `Parking` uses a mutex of the system, for its condition.
///
/// No user code runs and no user value is released while it is held.
///
/// A closure is stored in a struct: as a state, or as part of a tuple, it would be wrapped in two more closures by
/// each access that does not replace it, so each call of it would take longer than the last.
///
/// ThreadSanitizer does not see the code in which `Mutex` blocks, and would report races on the
/// state. `edge` shows it the order: each unlocking stores, and the next locking loads. That is a
/// plain store and a plain load on x86, and one instruction each on ARM.
@usableFromInline
package struct Lock<State: ~Copyable>: ~Copyable, Sendable {
  @usableFromInline let mutex: Mutex<State>
  @usableFromInline let edge = Atomic<UInt8>(0)

  @inlinable
  package init(_ state: consuming sending State) {
    mutex = Mutex(state)
  }

  @inlinable @inline(__always)
  package borrowing func withLock<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending State) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    try mutex.withLock { state throws(Failure) in
      _ = edge.load(ordering: .acquiring)
      defer { edge.store(0, ordering: .releasing) }
      return try body(&state)
    }
  }
}
