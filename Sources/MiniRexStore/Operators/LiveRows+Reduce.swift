public import MiniRex

extension LiveRows {
  /// Emits the number of rows, whenever it changes.
  ///
  /// It shares the index of this query.
  public var count: PublishedValue<Int> {
    steps.map(\.snapshot.count)
  }

  /// Emits the combination of the values of all rows, whenever it changes.
  ///
  /// ```swift
  /// let points = open.reduce(0, { $0.points }, +)
  /// let best = open.reduce(nil, { Int?.some($0.points) }) { max($0 ?? .min, $1 ?? .min) }
  /// ```
  ///
  /// A changed row costs O(log n): `value` runs for that row, and `combine` runs along one path. The
  /// values are combined in the order of the rows.
  ///
  /// - Parameters:
  ///   - initial: The result without rows. It is combined once with the values of all rows.
  ///   - value: Returns the value of a row.
  ///   - combine: Combines the results of two successive groups of rows. It must be associative.
  public func reduce<Result: Sendable>(
    _ initial: Result, _ value: @escaping @Sendable (Row) -> Result,
    _ combine: @escaping @Sendable (Result, Result) -> Result
  ) -> PublishedValue<Result> {
    @Sendable func result(_ index: ReduceIndex<Row, Result>) -> Result {
      index.values.summary({ $0 }, combine).map { combine(initial, $0) } ?? initial
    }
    let changeTest = ChangeTest<Result>()
    return PublishedValue<Result>(
      of: steps,
      value: .untracked { [steps] in
        steps.readCurrent().map { step in
          var index = ReduceIndex(value)
          index.apply(.all(step.snapshot))
          return result(index)
        }
      }
    ) { [steps] receive in
      let index = SerialState<ReduceIndex<Row, Result>?>(nil)
      let receive = skippingDuplicates(changeTest, receive)
      return steps.follow { step in
        var next = index.value.take() ?? ReduceIndex(value)
        next.apply(next.isEmpty ? .all(step.snapshot) : step.update)
        receive(result(next))
        index.value = next
      }
    }
    .share()
  }
}
