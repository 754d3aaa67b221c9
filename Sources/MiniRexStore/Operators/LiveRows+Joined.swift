extension LiveRows {
  /// Returns a query of the rows, each with the row of another query to which it refers.
  ///
  /// ```swift
  /// let cards = store.live(\.cards).joined(with: store.live(\.people), on: \.owner)
  /// ```
  ///
  /// Every row stays in the result, even without another row. A changed row of the other query
  /// updates the rows that refer to it, in O(k log n) for k rows. One commit that changes both lists
  /// is one update.
  ///
  /// - Parameters:
  ///   - other: The other query.
  ///   - reference: Returns the ID of the other row, or `nil`. Runs once for each changed row.
  public func joined<Other: Identifiable & Sendable>(
    with other: LiveRows<Other>, on reference: @escaping @Sendable (Row) -> Other.ID?
  ) -> LiveRows<JoinedRow<Row, Other>> where Other.ID: Sendable {
    LiveRows<JoinedRow<Row, Other>>(inputs.paired(with: other.inputs)) {
      [makeStage, makeOther = other.makeStage] in
      let (source, other, index) = (makeStage(), makeOther(), JoinIndex<Other>())
      var last: (one: (any LiveInput)?, other: (any LiveInput)?)
      return LiveStage(
        apply: { input in
          let pair = unsafe unsafeDowncast(input, to: PairInput.self)
          let change = last.one === pair.one ? LiveChange() : source.apply(pair.one)
          let otherChange = last.other === pair.other ? LiveChange() : other.apply(pair.other)
          last = (pair.one, pair.other)
          let changed = index.apply(other: otherChange, other)
          return index.apply(change, source.count(), changed: changed) { reference(source.row($0)) }
        },
        count: source.count, row: { JoinedRow(source.row($0), index.other(at: $0)) })
    }
  }
}
