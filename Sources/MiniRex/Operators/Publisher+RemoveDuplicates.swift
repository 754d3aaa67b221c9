extension Publisher where Kind: StreamKind {
  /// Skips each update that equals the last emitted one.
  ///
  /// ![removeDuplicates skips an update that equals its predecessor](removeDuplicates.svg)
  ///
  /// Each subscription compares separately, so a late subscriber still receives its first update.
  /// Objects that are not `Equatable` are duplicates if they are identical. Other values that are
  /// not `Equatable` are never duplicates. A tuple is compared by its elements, which are found by
  /// reflection. A published value stays a published value.
  @inlinable
  public func removeDuplicates() -> Publisher<Update, Kind> {
    let changeTest = ChangeTest<Update>(comparesElements: true)
    return Publisher(of: self, value: .derived { read(in: $0) }) {
      connect(skippingDuplicates(changeTest, $0))
    }
  }

  /// Skips each update that `areEqual` considers a duplicate of the last emitted one.
  ///
  /// ![removeDuplicates by compares with the last emitted update, not with the previous
  /// update](removeDuplicates-by.svg)
  ///
  /// Small steps are emitted once they add up to a large one, because the comparison uses the last
  /// emitted update. A published value stays a published value, and always emits its first value.
  ///
  /// - Parameter areEqual: A comparison of two updates. It runs where the publisher emits.
  @inlinable
  public func removeDuplicates(
    by areEqual: @escaping @Sendable (_ last: Update, _ next: Update) -> Bool
  ) -> Publisher<Update, Kind> {
    let changeTest = ChangeTest<Update>({ !areEqual($0, $1) })
    return Publisher(of: self, value: .untracked { readCurrent() }) {
      connect(skippingDuplicates(changeTest, $0))
    }
  }
}
