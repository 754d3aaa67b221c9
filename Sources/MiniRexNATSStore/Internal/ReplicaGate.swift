#if NATS
internal import MiniRex
internal import MiniRexStore

/// Admits only actions of the replica to its store, and collects their effects.
final class ReplicaGate<Action: Sendable>: Sendable {
  private enum State: Sendable {
    case shut
    case open
    case passed(Effect<Action>)
  }

  private let state = Lock(State.shut)

  /// Stores the effect of the current action.
  ///
  /// The reducer calls it.
  func pass(_ effect: Effect<Action>) {
    let isOpen = state.withLock { state in
      guard case .open = state else { return false }
      state = .passed(effect)
      return true
    }
    if !isOpen {
      misuse("The store of a replica accepts no actions. Send them to the replica.")
    }
  }

  /// Returns the effects of the action that `send` sends.
  func open(_ send: () -> Void) -> Effect<Action> {
    state.withLock { $0 = .open }
    send()
    return state.withLock { state in
      defer { state = .shut }
      if case .passed(let effect) = state { return effect }
      return .none
    }
  }
}
#endif
