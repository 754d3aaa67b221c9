/// Returns a reducer that also reacts to changes of a member, in the same commit.
///
/// ```swift
/// let searching = onChange(of: \.query, in: editing) { state, old in
///   state.results = []
///   return .send(.search)
/// }
/// ```
///
/// After `reducer`, the values of the member before and after it are compared. If they differ,
/// `react` may change the state further, and its effect is merged with the effect of `reducer`. The
/// actions that both send are reduced afterward. To react to several members, nest the calls. A
/// change by `react` itself does not call it again. NaN equals NaN here, even inside a member, so a
/// member that stays NaN does not react to every action.
///
/// The old value is retained while the reducer runs, so a change of a large array or dictionary
/// copies it. To react after a commit instead, subscribe to `publisher(of:)`.
///
/// - Parameters:
///   - path: The key path of the member.
///   - reducer: The reducer that may change the member.
///   - react: A closure with the changed state and the member's old value. The restrictions on
///     reducers apply.
public func onChange<State: Sendable, Action: Sendable, Value: Equatable & SendableMetatype>(
  of path: any KeyPath<State, Value> & Sendable,
  in reducer: @escaping Reducer<State, Action>,
  _ react: @escaping @Sendable (_ state: inout State, _ old: Value) -> Effect<Action>
) -> Reducer<State, Action> {
  { state, action in
    let old = state[keyPath: path]
    let effect = reducer(&state, action)
    let new = state[keyPath: path]
    if new == old || differOnlyByNaN(new, old) { return effect }
    let reaction = react(&state, old)
    if case .none = effect.kind { return reaction }
    if case .none = reaction.kind { return effect }
    return .merge(effect, reaction)
  }
}
