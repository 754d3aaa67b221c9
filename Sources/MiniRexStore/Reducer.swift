/// Says what an action does to a state, and what is to be done besides.
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
/// It is a function: one is made of several by calling them. It runs on the thread that sends, while
/// nobody else can read the state; so it reads no clock, waits for nothing, and leaves the rest to
/// the ``Effect`` that it returns.
public typealias Reducer<State: Sendable, Action: Sendable> =
  @Sendable (inout State, Action) -> Effect<Action>
