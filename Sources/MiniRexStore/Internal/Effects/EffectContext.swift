public import MiniRex

/// The properties that an effect inherits from its enclosing effects.
@usableFromInline
struct EffectContext {
  @usableFromInline var ids: [EffectID] = []
  @usableFromInline var place: (any AnyPlace)?
  @usableFromInline var sequence: EffectSequence?
  @usableFromInline let group: EffectGroup
  @usableFromInline let commit: Int
  /// The carried values of the sender of the action.
  @usableFromInline let carried: CarriedValues?

  @inlinable
  init(_ group: EffectGroup, commit: Int) {
    self.group = group
    self.commit = commit
    carried = .current
  }
}

extension Effect {
  /// The action of a plain `.send`, if every child around it is present in the state.
  @inlinable
  func action<Parent>(in parent: Parent) -> Action? {
    switch kind {
    case .send(let action): action
    case .work(.child(let step, let effect)): step.action(of: effect, in: parent)
    default: nil
    }
  }
}

/// Remaining work while nested effects are registered.
@usableFromInline
enum EffectRemainder<Action: Sendable> {
  /// The remaining members of a `.merge`.
  case members(ArraySlice<Effect<Action>>, EffectContext)
  /// The remaining members of a `.concatenate`, which are registered into its sequence.
  case sequence(ArraySlice<Effect<Action>>, EffectMembers<Action>, EffectContext)
  /// A sequence whose members were registered.
  case registered(EffectMembers<Action>)
  /// A child whose effects were registered.
  case child(Presence)
}
