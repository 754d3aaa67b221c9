public import MiniRex

/// The last state of a removable child that its scope has seen.
@usableFromInline
final class LastSeenState<State: Sendable>: Sendable {
  @usableFromInline let last: Lock<Seen>

  @usableFromInline
  struct Seen: Sendable {
    @usableFromInline var number: Int
    @usableFromInline var state: State?

    @inlinable
    init(number: Int, state: State?) {
      self.number = number
      self.state = state
    }
  }

  @inlinable
  init(_ state: State, _ number: Int) {
    last = Lock(Seen(number: number, state: state))
  }

  @inlinable var state: State? { last.withLock { $0.state } }

  /// Stores a state unless a newer state is stored.
  ///
  /// The older state is released outside the lock.
  @inlinable
  func remember(_ state: State, _ number: Int) {
    var seen = Seen(number: number, state: state)
    last.withLock { last in if last.number <= seen.number { swap(&last, &seen) } }
  }

  /// Releases the state, so the next change happens in place.
  func forget() {
    let old = last.withLock { $0.state.take() }
    withExtendedLifetime(old) {}
  }
}
