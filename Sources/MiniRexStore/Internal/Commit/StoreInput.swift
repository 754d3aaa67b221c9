/// An input that a thread handles with exclusive access.
@usableFromInline
enum StoreInput<Action: Sendable>: Sendable {
  /// An action, the effect that sent it, and the group of its effects.
  ///
  /// Without a group, the effects join the group of the chain.
  case action(Action, by: RunningEffect?, EffectGroup?)
  /// A queued `.send` that can be canceled or that a sequence waits for.
  case turn(RunningEffect, Action)
  /// An action of a child, dropped if the child was removed.
  case child(Action, Presence?, EffectGroup?)
  case ended(RunningEffect, EffectEnd)
  case cancel(EffectGroup)
}
