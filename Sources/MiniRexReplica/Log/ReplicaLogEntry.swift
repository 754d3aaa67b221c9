/// An entry of a log, with its place.
public struct ReplicaLogEntry: Hashable, Sendable {
  /// The place of the entry, from 1 on.
  public let sequence: UInt64
  /// The time at which the log stored the entry, in nanoseconds since 1970.
  public let time: Int64
  /// The header and the payload.
  public let message: ReplicaMessage

  /// Creates an entry.
  public init(sequence: UInt64, time: Int64, _ message: ReplicaMessage) {
    (self.sequence, self.time, self.message) = (sequence, time, message)
  }
}
