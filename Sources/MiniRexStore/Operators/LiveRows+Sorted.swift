extension LiveRows {
  /// Returns a query of the rows in the order of a key.
  ///
  /// ```swift
  /// let ranked = cards.sorted(by: \.rank)
  /// ```
  ///
  /// Rows with equal keys keep their order. Keys without an order, such as NaN, come last. The key
  /// is computed once for each changed row, and stored. The index has the key and about 18 bytes for
  /// each row.
  @inlinable
  public func sorted<Key: Comparable & Sendable>(
    by key: @escaping @Sendable (Row) -> Key
  ) -> LiveRows {
    LiveRows(over: self) { [makeStage] in
      let (source, index) = (makeStage(), SortIndex<Key>())
      return LiveStage(
        of: source,
        apply: { index.apply(source.apply($0), source.count()) { key(source.row($0)) } },
        count: { index.sorted.count }, sourcePosition: { index.sourcePosition($0) })
    }
  }
}
