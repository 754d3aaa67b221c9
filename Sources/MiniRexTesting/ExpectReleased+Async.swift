internal import MiniRex

/// Throws if an object that `body` tracks is still in memory after `body` returns.
///
/// See the synchronous overload for an example.
///
/// - Parameter body: Creates the objects, and uses them in a way that must not retain them.
/// - Throws: A ``LeakReport``, or the error of `body`.
public func expectReleased(_ body: (ReleaseTracker) async throws -> Void) async throws {
  let tracker = ReleaseTracker()
  let graph = LiveGraph()
  try await withInstrument(LeakWatch(graph: graph)) { try await body(tracker) }
  try throwIfAlive(tracker, graph)
}
