public import MiniRex

/// What a part that may go was when a scope saw it last.
@usableFromInline
final class PartMemory<State: Sendable>: Sendable {
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

  /// What is newer is kept; what is older is released after the lock.
  @inlinable
  func remember(_ state: State, _ number: Int) {
    var seen = Seen(number: number, state: state)
    last.withLock { last in if last.number <= seen.number { swap(&last, &seen) } }
  }

  /// Keeps nothing, so that what is changed next is changed in place.
  func forget() {
    let old = last.withLock { $0.state.take() }
    withExtendedLifetime(old) {}
  }
}
