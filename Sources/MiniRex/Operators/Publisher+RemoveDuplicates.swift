extension Publisher where Kind: StreamKind {
  /// Skips each update that equals the one before it.
  ///
  /// Every subscriber keeps its own memory, so a late one still gets its first update. Objects that
  /// are not `Equatable` are duplicates when they are the same object; values that are neither are
  /// never duplicates. A published value stays one.
  @inlinable
  public func removeDuplicates() -> Publisher<Update, Kind> {
    let difference = Difference<Update>()
    return Publisher(of: self, present: present) { start(skippingDuplicates(difference, $0)) }
  }

  /// Skips each update that `areEqual` says is a duplicate of the one before it.
  @inlinable
  public func removeDuplicates(
    by areEqual: @escaping @Sendable (_ last: Update, _ next: Update) -> Bool
  ) -> Publisher<Update, Kind> {
    let difference = Difference<Update> { !areEqual($0, $1) }
    return Publisher(of: self, present: present) { start(skippingDuplicates(difference, $0)) }
  }
}
