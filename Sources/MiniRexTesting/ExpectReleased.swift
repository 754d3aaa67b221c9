internal import MiniRex

/// Throws unless all objects that `body` tracks are gone when it has returned.
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
/// What it throws is a ``LeakReport``, which also names the subscriptions that are still alive,
/// since they are the usual reason. It waits for nothing: what another thread, or a Swift task that
/// `body` does not wait for, holds when it returns is not released.
///
/// - Parameter body: Makes the objects, and does with them what should not keep them alive. What it
///   throws is thrown on.
public func expectReleased(_ body: (ReleaseTracker) throws -> Void) throws {
  let tracker = ReleaseTracker()
  let graph = LiveGraph()
  try withInstrument(LeakWatch(graph: graph)) { try body(tracker) }
  try throwIfAlive(tracker, graph)
}

/// Remembers objects without keeping them alive; see `expectReleased`.
public final class ReleaseTracker {
  private struct Entry {
    weak var object: AnyObject?
    let description: String
  }

  private var entries: [Entry] = []

  init() {}

  /// Remembers the object by its type and this place, and returns it.
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
