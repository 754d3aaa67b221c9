#if NATS
/// Decides when a failed request to JetStream is repeated, and whether the failure is reported.
///
/// Servers that elect a leader answer no request, and a server that has just died may be chosen for a consumer. So the
/// first attempts wait a short time for the answer. Later ones wait longer, for a slow server.
struct ConsumerRetry: Sendable {
  /// The failures since the last success, because an election alternates between two of them.
  private var reported: [NATSError] = []
  private var timeouts = 0

  /// The time to wait for the next answer.
  var timeout: Duration { .seconds(min(1 << min(timeouts / 3, 3), 5)) }

  /// A Boolean value that indicates whether requests may be forbidden, which are never answered either.
  var isHopeless: Bool { timeouts > 3 }

  mutating func hasSucceeded() { (reported, timeouts) = ([], 0) }

  /// Returns `true` if no attempt since the last success has failed in the same way.
  mutating func hasFailed(_ error: NATSError) -> Bool {
    if error == .timedOut { timeouts += 1 }
    if reported.contains(error) { return false }
    reported.append(error)
    return true
  }

  static func milliseconds(after error: NATSError) -> Int {
    switch error {
    case .timedOut: 50
    case .noResponders: 250
    default: 1_000
    }
  }
}
#endif
