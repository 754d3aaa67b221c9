extension Publisher where Kind: StreamKind {
  /// Transforms each update.
  ///
  /// ![map transforms every update of a broadcaster and keeps duplicates](map.svg)
  ///
  /// ![map of a value skips equal results](map-value.svg)
  ///
  /// A broadcaster stays a broadcaster. A published value stays a published value, and skips a
  /// result that equals the previous one. `transform` runs once per subscriber and update.
  @inlinable
  public func map<Result: Sendable>(
    _ transform: @escaping @Sendable (Update) -> Result
  ) -> Publisher<Result, Kind> {
    let changeTest = Kind.hasCurrentValue ? ChangeTest<Result>() : nil
    return Publisher<Result, Kind>(
      of: self, value: .derived { read(in: $0).map(transform) }
    ) { receive in
      if let changeTest {
        let receive = skippingDuplicates(changeTest, receive)
        return connect { receive(transform($0)) }
      }
      return connect { receive(transform($0)) }
    }
  }
}
