#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The state of a replica after an entry of the log.
public struct ReplicaLogSnapshot: Hashable, Sendable {
  /// The sequence of the entry.
  public let sequence: UInt64
  /// The time at which the log stored the entry, in nanoseconds since 1970.
  public let time: Int64
  /// The encoded state, which a log stores unchanged.
  public let data: Data

  /// Creates a snapshot.
  public init(sequence: UInt64, time: Int64, _ data: Data) {
    (self.sequence, self.time, self.data) = (sequence, time, data)
  }
}
