/// The progress of a transfer in bytes.
public struct TransferProgress: Sendable, Hashable {
  /// The number of transferred bytes.
  public var done: Int

  /// The total number of bytes, or `nil` if it is unknown.
  public var expected: Int?

  /// Creates the progress of a transfer.
  ///
  /// - Parameters:
  ///   - done: The number of transferred bytes.
  ///   - expected: The total number of bytes, or `nil` if it is unknown.
  public init(done: Int, expected: Int?) {
    self.done = done
    self.expected = expected
  }

  /// The fraction from 0 to 1, or `nil` while the total is unknown.
  ///
  /// An empty transfer has the fraction 1, and a transfer beyond its total as well.
  public var fraction: Double? {
    guard let expected else { return nil }
    return done >= expected ? 1 : Double(done) / Double(expected)
  }
}
