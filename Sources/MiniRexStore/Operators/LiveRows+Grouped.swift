extension LiveRows {
  /// Returns a query of groups of rows with equal keys.
  ///
  /// ```swift
  /// let columns = cards.grouped(by: \.column)
  /// ```
  ///
  /// The groups have the order of their first rows, and the rows of a group have the order of this
  /// query. `grouped(by: \.column).sorted(by: \.id)` orders the groups by their keys. A changed row
  /// updates its group, in O(log n). A group without rows is removed.
  ///
  /// - Parameter key: Returns the key. Runs once for each changed row.
  public func grouped<Key: Hashable & Sendable>(
    by key: @escaping @Sendable (Row) -> Key
  ) -> LiveRows<RowsGroup<Key, Row>> {
    LiveRows<RowsGroup<Key, Row>>(over: self) { [makeStage] in
      let (source, index) = (makeStage(), GroupIndex<Key, Row>())
      return LiveStage(
        apply: { index.apply(source.apply($0), source, key) }, count: { index.count },
        row: index.group)
    }
  }
}
