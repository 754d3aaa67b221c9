internal import MiniRexJournal

/// A short form of a snapshot, to compare states.
public struct ReplicaDigest: Hashable, Sendable {
  /// The sequence of the snapshot's entry.
  public let sequence: UInt64
  /// The time at which the log stored the entry, in nanoseconds since 1970.
  public let time: Int64
  /// The CRC-32 checksum of the snapshot's data.
  public let checksum: UInt32

  /// Creates a digest from its stored parts.
  public init(sequence: UInt64, time: Int64, checksum: UInt32) {
    (self.sequence, self.time, self.checksum) = (sequence, time, checksum)
  }

  /// Creates the digest of a snapshot.
  public init(_ snapshot: ReplicaLogSnapshot) {
    (sequence, time) = (snapshot.sequence, snapshot.time)
    checksum = Checksum.of([UInt8](snapshot.data)[...])
  }
}
