internal import MiniRex

/// Throws unless all objects that `body` tracks are gone when it has returned.
///
/// It is like the form that does not wait.
///
/// - Parameter body: Makes the objects, and does with them what should not keep them alive. What it
///   throws is thrown on.
public func expectReleased(_ body: (ReleaseTracker) async throws -> Void) async throws {
  let tracker = ReleaseTracker()
  let graph = LiveGraph()
  try await withInstrument(LeakWatch(graph: graph)) { try await body(tracker) }
  try throwIfAlive(tracker, graph)
}
