public import Synchronization

/// The one lock of the package: nothing of the user's runs or is released while it is held.
///
/// `Mutex` sleeps in a library that ThreadSanitizer does not see, so `edge` repeats each hand-over
/// where it does. That is a plain load and a plain store on x86, and one instruction each on ARM.
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
