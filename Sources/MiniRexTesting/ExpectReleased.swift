internal import MiniRex

/// Throws if an object that `body` tracks is still in memory after `body` returns.
///
/// ```swift
/// @Test func `a closed door is released`() throws {
///   try expectReleased { track in
///     let door = track(Door())
///     door.open()
///     door.close()
///   }
/// }
/// ```
///
/// The report also names the active subscriptions, which are the usual reason. `expectReleased` does not
/// wait. An object that another thread or an unfinished Swift task retains is reported.
///
/// - Parameter body: Creates the objects, and uses them in a way that must not retain them.
/// - Throws: A ``LeakReport``, or the error of `body`.
public func expectReleased(_ body: (ReleaseTracker) throws -> Void) throws {
  let tracker = ReleaseTracker()
  let graph = LiveGraph()
  try withInstrument(LeakWatch(graph: graph)) { try body(tracker) }
  try throwIfAlive(tracker, graph)
}

/// A list of weak references to the objects that `expectReleased` checks.
public final class ReleaseTracker {
  private struct Entry {
    weak var object: AnyObject?
    let description: String
  }

  private var entries: [Entry] = []

  init() {}

  /// Adds an object with its type and the place of the call, and returns it.
  public func callAsFunction<Object: AnyObject>(
    _ object: Object, fileID: String = #fileID, line: Int = #line
  ) -> Object {
    let place = CodePlace(fileID: fileID, line: line)
    entries.append(Entry(object: object, description: "\(type(of: object)), \(place)"))
    return object
  }

  fileprivate var living: [String] {
    entries.filter { $0.object != nil }.map(\.description)
  }
}

func throwIfAlive(_ tracker: ReleaseTracker, _ graph: LiveGraph) throws {
  let objects = tracker.living
  if !objects.isEmpty { throw LeakReport(objects: objects, in: graph) }
}
