/// A function that applies an action to a state and returns an effect.
///
/// ```swift
/// static let counter: Reducer<CounterState, CounterAction> = { state, action in
///   switch action {
///   case .increment: state.count += 1
///   case .decrement: state.count -= 1
///   }
///   return .none
/// }
/// ```
///
/// To compose reducers, call them. A reducer runs synchronously on the sender's thread, with
/// exclusive access to the state. Therefore, it must not block or read a clock. Return an
/// ``Effect`` for such work.
public typealias Reducer<State: Sendable, Action: Sendable> =
  @Sendable (inout State, Action) -> Effect<Action>
