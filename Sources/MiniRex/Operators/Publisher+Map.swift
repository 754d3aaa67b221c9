extension Publisher where Kind: StreamKind {
  /// Transforms each update.
  ///
  /// A broadcaster gives a broadcaster; a published value gives a published value, which skips
  /// results that equal the one before. `transform` is called for each subscriber by itself.
  @inlinable
  public func map<Result: Sendable>(
    _ transform: @escaping @Sendable (Update) -> Result
  ) -> Publisher<Result, Kind> {
    let difference = Kind.skipsDuplicates ? Difference<Result>() : nil
    return Publisher<Result, Kind>(of: self, present: { present().map(transform) }) { receive in
      if let difference {
        let receive = skippingDuplicates(difference, receive)
        return start { receive(transform($0)) }
      }
      return start { receive(transform($0)) }
    }
  }
}
