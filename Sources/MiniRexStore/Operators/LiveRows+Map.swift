extension LiveRows {
  /// Returns a query of transformed rows.
  ///
  /// `transform` runs once for each changed row. An `Equatable` result that has not changed is no
  /// change. The index stores the results, so later operators do not run `transform` again.
  ///
  /// - Parameter transform: Returns a row for a row. Different rows need different IDs.
  @inlinable
  public func map<Other: Identifiable & Sendable>(
    _ transform: @escaping @Sendable (Row) -> Other
  ) -> LiveRows<Other> where Other.ID: Sendable {
    LiveRows<Other>(over: self) { [makeStage] in
      let (source, index) = (makeStage(), MapIndex<Other>())
      return LiveStage(
        apply: { index.apply(source.apply($0), source.count()) { transform(source.row($0)) } },
        count: { index.tree.count }, row: { index.tree[$0] },
        tree: { index.tree })
    }
  }
}
