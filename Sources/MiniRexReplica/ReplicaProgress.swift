#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The position of a replica in its log.
public struct ReplicaProgress: Hashable, Sendable {
  /// The relation of a replica to its log.
  public enum Phase: String, Hashable, Sendable, Codable {
    /// The replica is not connected, or has not compared its log with the entries that it has read.
    case offline
    /// The replica is connected, and reads the entries that the log had at the beginning of the connection.
    case catchingUp
    /// The replica has read these entries, and receives new ones.
    case current
    /// The replica was closed, or stopped because of ``ReplicaProgress/trouble``.
    case stopped
  }

  /// The relation to the log.
  public var phase = Phase.offline
  /// The sequence of the last entry that was read, or 0.
  public var sequence: UInt64 = 0
  /// The number of entries that the log is known to have behind ``sequence``.
  ///
  /// The replica learns the last sequence with each connection and each answer to its own appends.
  public var behind: UInt64 = 0
  /// The number of actions of this replica that are not decided.
  public var pending = 0
  /// The time at which the oldest pending action was sent, or `nil` without one.
  ///
  /// For an action of an earlier process it is the time at which the log received it first, or the start of this
  /// replica.
  public var oldestPending: Date?
  /// The time at which the log stored the entry of its newest snapshot, or `nil` without one.
  public var snapshotTime: Date?
  /// The reason why the replica stopped, or `nil`.
  public var trouble: ReplicaTrouble?

  /// Creates the position of a replica that has read nothing.
  public init() {}
}
