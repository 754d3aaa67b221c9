extension Publisher where Kind: StreamKind {
  /// Transforms each update, and skips `nil` results.
  ///
  /// ![compactMap skips updates that it maps to nil](compactMap.svg)
  ///
  /// The result is a broadcaster, even for a published value, whose first value may be skipped.
  @inlinable
  public func compactMap<Result: Sendable>(
    _ transform: @escaping @Sendable (Update) -> Result?
  ) -> Broadcaster<Result> {
    Broadcaster(trusting: self) { receive in
      connect { if let result = transform($0) { receive(result) } }
    }
  }
}
