extension Publisher where Kind: StreamKind {
  /// Lets through the updates for which `isIncluded` says yes.
  ///
  /// It gives a broadcaster, even of a published value, whose first value may be missing then.
  @inlinable
  public func filter(
    _ isIncluded: @escaping @Sendable (Update) -> Bool
  ) -> Broadcaster<Update> {
    Broadcaster(trusting: self) { receive in
      connect { if isIncluded($0) { receive($0) } }
    }
  }
}
