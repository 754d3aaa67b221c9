/// The extent of a log when a connection begins.
public struct ReplicaLogState: Hashable, Sendable {
  /// The sequence of the first entry, or of the next entry if the log is empty.
  public let first: UInt64
  /// The sequence of the last entry that was appended.
  public let last: UInt64
  /// The time of the last entry that the log has, in nanoseconds since 1970, or 0.
  ///
  /// A log that knows its present time uses the later one. A replica does not repeat an action that a log of that time
  /// may have decided and forgotten.
  public let lastTime: Int64
  /// The entry after which the reading continues, or `nil` if the log does not have it.
  public let entry: ReplicaLogEntry?

  /// Creates the extent of a log.
  public init(first: UInt64, last: UInt64, lastTime: Int64, entry: ReplicaLogEntry?) {
    (self.first, self.last, self.lastTime, self.entry) = (first, last, lastTime, entry)
  }
}
