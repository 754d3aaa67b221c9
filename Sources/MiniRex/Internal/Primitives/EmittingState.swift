/// State whose changes queue events.
@usableFromInline
package protocol EmittingState: Sendable {
  associatedtype Event: Sendable

  var outgoing: OutgoingEvents<Event> { get set }
}

/// The events to emit, in order.
@usableFromInline
package struct OutgoingEvents<Event: Sendable>: Sendable {
  @usableFromInline var queue: [Event] = []
  /// `true` while a thread emits, which also emits the events that are queued by then.
  @usableFromInline var isEmitting = false

  package init() {}

  @inlinable
  package mutating func append(_ event: Event) { queue.append(event) }

  package mutating func removeAll() { queue = [] }

  /// Returns the queued events, which the caller must emit.
  @inlinable
  mutating func take() -> [Event] {
    defer { queue = [] }
    isEmitting = !queue.isEmpty
    return queue
  }
}

extension Lock where State: EmittingState {
  /// Changes the state, and emits the events that the change has queued.
  ///
  /// They are emitted serially, in order, and outside the lock. A call during another emission only queues
  /// events.
  @inlinable
  package borrowing func emitting<Result>(
    _ emit: (State.Event) -> Void, _ change: (inout State) -> Result
  ) -> Result {
    var (result, next) = withLock { state in
      let result = change(&state)
      return (result, state.outgoing.isEmitting ? [] : state.outgoing.take())
    }
    while !next.isEmpty {
      for event in next { emit(event) }
      next = withLock { $0.outgoing.take() }
    }
    return result
  }
}
