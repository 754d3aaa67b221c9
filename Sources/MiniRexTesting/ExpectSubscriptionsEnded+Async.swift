internal import MiniRex

/// Throws unless all subscriptions have ended, when `body` has returned, to sources that it made.
///
/// It is like the form that does not wait.
///
/// - Parameter body: What it throws is thrown on.
public func expectSubscriptionsEnded(_ body: () async throws -> Void) async throws {
  let graph = LiveGraph()
  try await withInstrument(LeakWatch(graph: graph)) { try await body() }
  try throwIfSubscribed(graph)
}
