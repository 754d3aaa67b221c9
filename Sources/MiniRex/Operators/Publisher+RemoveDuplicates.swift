extension Publisher where Kind: StreamKind {
  /// Skips each update that equals the last one it let through.
  ///
  /// Every subscriber keeps its own memory, so a late one still gets its first update. Objects that
  /// are not `Equatable` are duplicates when they are the same object; values that are neither are
  /// never duplicates. A published value stays one.
  @inlinable
  public func removeDuplicates() -> Publisher<Update, Kind> {
    let changeTest = ChangeTest<Update>()
    return Publisher(of: self, current: readCurrent) { connect(skippingDuplicates(changeTest, $0)) }
  }

  /// Skips each update that `areEqual` says is a duplicate of the last one it let through.
  ///
  /// So many small steps are let through once they add up to a large one. A published value stays
  /// one; its first value is always let through.
  ///
  /// - Parameter areEqual: Called with two updates of one subscriber, where the publisher calls.
  @inlinable
  public func removeDuplicates(
    by areEqual: @escaping @Sendable (_ last: Update, _ next: Update) -> Bool
  ) -> Publisher<Update, Kind> {
    let changeTest = ChangeTest<Update>({ !areEqual($0, $1) })
    return Publisher(of: self, current: readCurrent) { connect(skippingDuplicates(changeTest, $0)) }
  }
}
