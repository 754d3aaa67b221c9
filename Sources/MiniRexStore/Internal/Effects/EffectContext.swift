public import MiniRex

/// The properties that an effect inherits from its enclosing effects.
@usableFromInline
struct EffectContext: Sendable {
  @usableFromInline var ids: [EffectID] = []
  @usableFromInline var place: AnyPlace?
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
  func action<Whole>(in whole: Whole) -> Action? {
    switch kind {
    case .send(let action): action
    case .work(.part(let step, let effect)): step.action(of: effect, in: whole)
    default: nil
    }
  }
}

/// Remaining work while nested effects are entered.
@usableFromInline
enum EffectRemainder<Action: Sendable>: Sendable {
  /// The remaining members of a `.merge`.
  case members(ArraySlice<Effect<Action>>, EffectContext)
  /// A sequence whose current member was entered.
  case entered(EffectSequence)
  /// A child whose effects were entered.
  case child(Presence)
}
