/// How much of a transfer is done.
public struct TransferProgress: Sendable, Hashable {
  /// How many bytes have been transferred.
  public var done: Int

  /// How many bytes there are in all; `nil` if nobody has said so.
  public var expected: Int?

  /// Tells how much is done.
  ///
  /// - Parameters:
  ///   - done: How many bytes have been transferred.
  ///   - expected: How many bytes there are in all; `nil` if nobody has said so.
  public init(done: Int, expected: Int?) {
    self.done = done
    self.expected = expected
  }

  /// From 0 to 1; `nil` while it is not known how much there is in all.
  ///
  /// A transfer of nothing is done, and one that has exceeded what was expected is not more than
  /// done.
  public var fraction: Double? {
    guard let expected else { return nil }
    return done >= expected ? 1 : Double(done) / Double(expected)
  }
}
