#if NATS
/// The severity of a row.
///
/// The page names it and sorts by it, so the raw values are part of its events.
enum Concern: Int, Sendable, Comparable {
  case none
  /// The process has another version than most processes with its name.
  case otherVersion
  /// A replica is not current, 1,000 updates are queued, or a subscription has dropped updates in the last 10 s.
  case slow
  /// A condition is `false`, or a replica has stopped.
  case unready
  /// The state of a replica differs from the state of most replicas, or two processes report with one identifier.
  case wrong
  /// The process has not reported for six seconds.
  case lost

  static func < (one: Concern, other: Concern) -> Bool { one.rawValue < other.rawValue }
}
#endif
