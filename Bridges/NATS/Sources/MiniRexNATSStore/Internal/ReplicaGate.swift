internal import MiniRexStore

/// Lets those actions into a store that its replica has sent, and keeps their effects.
final class ReplicaGate<Action: Sendable>: Sendable {
  private enum State: Sendable {
    case shut
    case open
    case passed(Effect<Action>)
  }

  private let state = Lock(State.shut)

  /// Called by the reducer.
  func pass(_ effect: Effect<Action>) {
    let isOpen = state.withLock { state in
      guard case .open = state else { return false }
      state = .passed(effect)
      return true
    }
    if !isOpen {
      misuse("An action was sent to the store of a replica. Send it to the replica.")
    }
  }

  /// What the action has asked for that `send` sends.
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
