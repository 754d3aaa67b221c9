extension Publisher where Kind: StreamKind {
  /// Transforms each update, and leaves out those that give `nil`.
  ///
  /// It gives a broadcaster, even of a published value, whose first value may be missing then.
  @inlinable
  public func compactMap<Result: Sendable>(
    _ transform: @escaping @Sendable (Update) -> Result?
  ) -> Broadcaster<Result> {
    Broadcaster(trusting: self) { receive in
      connect { if let result = transform($0) { receive(result) } }
    }
  }
}
