/// The change of one path.
public enum FlatChange: Sendable, Hashable, CustomStringConvertible {
  /// The path is new.
  case added(FlatValue)
  /// The path was removed.
  case removed(FlatValue)
  /// The path has another value.
  case changed(from: FlatValue, to: FlatValue)

  /// The new value, or `nil` if the path was removed.
  public var value: FlatValue? {
    switch self {
    case .added(let value), .changed(_, let value): value
    case .removed: nil
    }
  }

  /// The two values with an arrow between them, or one value after a sign.
  public var description: String {
    switch self {
    case .added(let value): "+ \(value)"
    case .removed(let value): "- \(value)"
    case .changed(let old, let new): "\(old) → \(new)"
    }
  }
}

/// The changes of one commit, by path.
///
/// ```swift
/// let subscription = store.diffs.subscribe { diff in
///   if let diff = try? diff.get() { print("\(diff)") }  // 1 todos/0/isDone: false → true
/// }
/// ```
public struct StateDiff: Sendable, Hashable, CustomStringConvertible {
  /// The number of the commit.
  public let commit: Int
  /// The changes by path, never empty.
  public let changes: [String: FlatChange]

  init(commit: Int, changes: [String: FlatChange]) {
    self.commit = commit
    self.changes = changes
  }

  /// Accesses the change of a path, or `nil` if the path did not change.
  public subscript(path: String) -> FlatChange? { changes[path] }

  /// Returns a JSON object of the changed paths, sorted, with their new values and `null` for
  /// removed paths.
  public func json() -> String {
    let members = sorted.map { "\(quoted($0.key)):\($0.value.value ?? .null)" }
    return "{\(members.joined(separator: ","))}"
  }

  /// The number of the commit, then the sorted paths with their changes.
  public var description: String {
    "\(commit) " + sorted.map { "\($0.key): \($0.value)" }.joined(separator: ", ")
  }

  private var sorted: [(key: String, value: FlatChange)] { changes.sorted { $0.key < $1.key } }
}
