#if NATS
/// Decides when a failed request to JetStream is repeated, and whether the failure is reported.
struct ConsumerRetry: Sendable {
  private var failure: NATSError?

  mutating func hasSucceeded() { failure = nil }

  /// Returns `true` if the previous attempt did not fail in the same way.
  mutating func hasFailed(_ error: NATSError) -> Bool {
    defer { failure = error }
    return failure != error
  }

  static func milliseconds(after error: NATSError) -> Int { error == .noResponders ? 250 : 1_000 }
}
#endif
