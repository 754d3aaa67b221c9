import MiniRex

extension LiveRows {
  /// Returns a query of the first rows.
  ///
  /// ```swift
  /// let leaders = players.sorted { -$0.score }.prefix(10)
  /// ```
  ///
  /// A change behind the first rows emits nothing. The operator has no index.
  ///
  /// - Parameter maxLength: The maximum number of rows. Traps if negative.
  public func prefix(_ maxLength: Int) -> LiveRows {
    if maxLength < 0 {
      misuse("'prefix' requires a count of 0 or more, not \(maxLength).")
    }
    return LiveRows(over: self) { [makeStage] in
      let source = makeStage()
      var index = PrefixIndex(limit: maxLength)
      return LiveStage(
        apply: { index.apply(source.apply($0), source.count()) }, count: { index.count },
        row: source.row)
    }
  }
}
