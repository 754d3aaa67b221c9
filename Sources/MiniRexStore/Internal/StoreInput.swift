/// What a thread comes with to the state.
@usableFromInline
enum StoreInput<Action: Sendable>: Sendable {
  /// An action, the effect that sends it, and the group to which its effects belong: that of the
  /// chain, if there is none.
  case action(Action, by: RunningEffect<Action>?, EffectGroup?)
  /// A `.send` whose turn has come.
  case turn(RunningEffect<Action>)
  case ended(RunningEffect<Action>, EffectEnd)
  case cancel(EffectGroup)
}
