/// An event of a log.
public enum ReplicaLogEvent: Sendable {
  /// A connection began, and the log has this extent.
  ///
  /// It may follow another connection without a loss.
  case connected(ReplicaLogState)
  /// The connection was lost.
  case disconnected
  /// The log has another entry.
  case entry(ReplicaLogEntry)
  /// All entries that the log had at the beginning of the connection were emitted.
  ///
  /// It must be emitted once or more for each connection.
  case current
  /// The log may lose entries that replicas need, for the given reason, which stops the replica.
  case unsuitable(String)
}
