/// What became of a path.
public enum FlatChange: Sendable, Hashable, CustomStringConvertible {
  /// It was not there before.
  case added(FlatValue)
  /// It is there no longer.
  case removed(FlatValue)
  /// It has another value.
  case changed(from: FlatValue, to: FlatValue)

  /// The value that is there now; `nil` if it was removed.
  public var value: FlatValue? {
    switch self {
    case .added(let value), .changed(_, let value): value
    case .removed: nil
    }
  }

  /// The values, with an arrow between them, or a sign in front.
  public var description: String {
    switch self {
    case .added(let value): "+ \(value)"
    case .removed(let value): "- \(value)"
    case .changed(let old, let new): "\(old) → \(new)"
    }
  }
}

/// What a commit has changed, by path.
///
/// ```swift
/// let subscription = store.diffs.subscribe { diff in
///   if let diff = try? diff.get() { print("\(diff)") }  // 1 todos/0/isDone: false → true
/// }
/// ```
public struct StateDiff: Sendable, Hashable, CustomStringConvertible {
  /// The number of the commit.
  public let commit: Int
  /// What was changed, never empty.
  public let changes: [String: FlatChange]

  init(commit: Int, changes: [String: FlatChange]) {
    self.commit = commit
    self.changes = changes
  }

  /// What became of a path; `nil` if it is as it was.
  public subscript(path: String) -> FlatChange? { changes[path] }

  /// An object of the paths that were changed and their new values, `null` for those that were removed,
  /// in the order of the paths.
  public func json() -> String {
    let members = sorted.map { "\(quoted($0.key)):\($0.value.value ?? .null)" }
    return "{\(members.joined(separator: ","))}"
  }

  /// The number of the commit, then each path and what became of it, in the order of the paths.
  public var description: String {
    "\(commit) " + sorted.map { "\($0.key): \($0.value)" }.joined(separator: ", ")
  }

  private var sorted: [(key: String, value: FlatChange)] { changes.sorted { $0.key < $1.key } }
}
