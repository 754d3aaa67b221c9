internal import MiniRex

/// Throws if a subscription to a source that `body` creates is still active after `body` returns.
///
/// See the synchronous overload for an example.
///
/// - Parameter body: Creates the sources.
/// - Throws: A ``LeakReport``, or the error of `body`.
public func expectSubscriptionsEnded(_ body: () async throws -> Void) async throws {
  let graph = LiveGraph()
  try await withInstrument(LeakWatch(graph: graph)) { try await body() }
  try throwIfSubscribed(graph)
}
