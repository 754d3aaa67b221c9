extension Publisher where Kind: StreamKind {
  /// Emits the updates that satisfy `isIncluded`.
  ///
  /// ![filter emits the updates that satisfy its predicate, and finishes with its
  /// source](filter.svg)
  ///
  /// The result is a broadcaster, even for a published value, whose first value may be skipped.
  @inlinable
  public func filter(
    _ isIncluded: @escaping @Sendable (Update) -> Bool
  ) -> Broadcaster<Update> {
    Broadcaster(trusting: self) { receive in
      connect { if isIncluded($0) { receive($0) } }
    }
  }
}
