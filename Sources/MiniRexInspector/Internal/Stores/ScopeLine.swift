internal import MiniRexStore

/// A line in the tree of a store's scopes.
struct ScopeLine: Sendable, Encodable, Equatable {
  /// The number of enclosing scopes.
  let depth: Int
  /// The description of the key path.
  let path: String
  /// The number of scopes with the key path, such as the rows of a collection.
  let count: Int

  static func lines(of scopes: [ScopeStatus], atMost limit: Int) -> [ScopeLine] {
    var lines: [ScopeLine] = []
    var rest = scopes.reversed().map { (depth: 0, scope: $0) }
    while lines.count < limit, let (depth, scope) = rest.popLast() {
      lines.append(
        ScopeLine(depth: depth, path: shortened(scope.path, to: 200), count: scope.count))
      rest += scope.children.reversed().map { (depth + 1, $0) }
    }
    return lines
  }
}
