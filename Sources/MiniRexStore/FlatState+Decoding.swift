extension FlatState {
  /// Creates a flat state from its values by path.
  ///
  /// - Parameter values: The values, as in ``values``.
  public init(values: [String: FlatValue]) {
    self.init(
      entries: values.sorted { $0.key < $1.key }.map { FlatEntry(path: $0.key, value: $0.value) })
  }

  /// Decodes a value that was flattened.
  ///
  /// ```swift
  /// let copy = try FlatState(todos).decode([Todo].self)
  /// ```
  ///
  /// The result equals the flattened value if its type decodes the output of its own encoding. A
  /// missing path decodes as `nil`. Complexity: O(n).
  ///
  /// - Throws: `DecodingError`, or the error that `Value` throws.
  public func decode<Value: Decodable>(_ type: Value.Type = Value.self) throws -> Value {
    try Value(from: FlatDecoder(FlatNode(entries)))
  }

  /// Returns the state after a diff.
  ///
  /// ```swift
  /// let next = flat.applying(diff)
  /// ```
  ///
  /// Applying every diff of a store in order yields the store's state, for example in another
  /// process. Complexity: O(n).
  public func applying(_ diff: StateDiff) -> FlatState {
    var values = values
    for (path, change) in diff.changes { values[path] = change.value }
    return FlatState(values: values)
  }
}
