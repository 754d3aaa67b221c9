/// What a thread comes with to the state.
@usableFromInline
enum StoreInput<Action: Sendable>: Sendable {
  /// An action, the effect that sends it, and the group to which its effects belong: that of the
  /// chain, if there is none.
  case action(Action, by: RunningEffect?, EffectGroup?)
  /// A `.send` that may be cancelled, or that others wait for, and whose turn has come.
  case turn(RunningEffect, Action)
  /// An action of a part, which is dropped if that has gone.
  case part(Action, PartEntry?, EffectGroup?)
  case ended(RunningEffect, EffectEnd)
  case cancel(EffectGroup)
}
