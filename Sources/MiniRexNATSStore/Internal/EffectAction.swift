#if NATS
internal import MiniRex
internal import MiniRexStore

/// An action of the internal store that runs the effects of a replica.
///
/// That store has the replica's state, because an effect of child state is canceled with the child.
enum EffectAction<State: Sendable, Action: Sendable>: Sendable {
  case follow(State)
  case run(Effect<Action>, State)
  case append(Action)
}

func makeEffects<State: Sendable, Action: Codable & Sendable>(
  of state: State, sendingTo outbox: Outbox<Action>
) -> Store<State, EffectAction<State, Action>> {
  Store(state) { state, action in
    switch action {
    case .follow(let new):
      state = new
      return .none
    case .run(let effect, let new):
      state = new
      return effect.map { .append($0) }
    case .append(let action):
      return .publisher {
        _ = outbox.send(action)
        return Broadcaster { _ in .ended }
      }
    }
  }
}
#endif
