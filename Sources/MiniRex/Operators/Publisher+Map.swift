extension Publisher where Kind: StreamKind {
  /// Transforms each update.
  ///
  /// A broadcaster gives a broadcaster; a published value gives a published value, which skips
  /// results that equal the one before. `transform` is called for each subscriber by itself.
  @inlinable
  public func map<Result: Sendable>(
    _ transform: @escaping @Sendable (Update) -> Result
  ) -> Publisher<Result, Kind> {
    let changeTest = Kind.hasCurrentValue ? ChangeTest<Result>() : nil
    return Publisher<Result, Kind>(of: self, current: { readCurrent().map(transform) }) { receive in
      if let changeTest {
        let receive = skippingDuplicates(changeTest, receive)
        return connect { receive(transform($0)) }
      }
      return connect { receive(transform($0)) }
    }
  }
}
