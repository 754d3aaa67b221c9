public import MiniRexStore

/// Runs a test with a ``TestStore``, and throws if something has happened that it does not say.
///
/// When `body` has returned, effects that are about to end are let end. It is a failure if one does
/// not, if an action was received that is not asserted, or if an effect has thrown what no `finished()`
/// has thrown on.
///
/// - Parameters:
///   - state: The first state.
///   - patience: How much real time is spent on waiting for an effect; only a test that fails spends it.
///   - reducer: What actions do.
///   - body: The test.
nonisolated(nonsending) public func withTestStore<State: Sendable & Equatable, Action: Sendable>(
  _ state: State, within patience: Duration = .seconds(10),
  reducer: @escaping Reducer<State, Action>,
  _ body: nonisolated(nonsending) (TestStore<State, Action>) async throws -> Void
) async throws {
  let store = TestStore(state, within: patience, reducer: reducer)
  try await body(store)
  try await store.finish()
}
