public import MiniRex

extension LiveRows {
  /// Returns a query of the rows that satisfy a predicate.
  ///
  /// The predicate runs once for each changed row. The index has about one byte for each row of this
  /// query.
  @inlinable
  public func filter(_ isIncluded: @escaping @Sendable (Row) -> Bool) -> LiveRows {
    LiveRows(over: self) { [makeStage] in
      let (source, index) = (makeStage(), FilterIndex())
      return LiveStage(
        of: source,
        apply: { index.apply(source.apply($0), source.count()) { isIncluded(source.row($0)) } },
        count: { index.count }, sourcePosition: { index.sourcePosition($0) })
    }
  }

  /// Returns a query of the rows that satisfy a predicate with a changing parameter.
  ///
  /// ```swift
  /// let found = cards.filter(by: search.publisher) { card, text in card.title.contains(text) }
  /// ```
  ///
  /// A changed parameter tests every row once, and is one update. The query is glitch-free if the
  /// parameter and the rows come from one source.
  ///
  /// - Parameters:
  ///   - parameter: The parameter of the predicate.
  ///   - isIncluded: The predicate.
  public func filter<Parameter: Sendable>(
    by parameter: PublishedValue<Parameter>,
    _ isIncluded: @escaping @Sendable (Row, Parameter) -> Bool
  ) -> LiveRows {
    let parameters = parameter.map { ParameterInput($0) as any LiveInput }
    return LiveRows(inputs.paired(with: parameters)) { [makeStage] in
      let (source, index) = (makeStage(), FilterIndex())
      var last: (any LiveInput)?
      return LiveStage(
        of: source,
        apply: { input in
          let pair = unsafe unsafeDowncast(input, to: PairInput.self)
          let parameter = unsafe unsafeDowncast(pair.other, to: ParameterInput<Parameter>.self)
          let isIncluded = { isIncluded(source.row($0), parameter.value) }
          let change = source.apply(pair.one)
          if last === parameter { return index.apply(change, source.count(), isIncluded) }
          last = parameter
          if change.isEmpty { return index.testAgain(isIncluded) }
          return index.apply(.reset, source.count(), isIncluded)
        },
        count: { index.count }, sourcePosition: { index.sourcePosition($0) })
    }
  }
}

extension PublishedValue<any LiveInput> {
  /// Combines the inputs of two stages, glitch-free.
  func paired(with other: PublishedValue<any LiveInput>) -> PublishedValue<any LiveInput> {
    MiniRex.combineLatest(self, other).map { PairInput($0, $1) as any LiveInput }
  }
}
