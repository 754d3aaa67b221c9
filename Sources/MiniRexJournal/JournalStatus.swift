#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The progress of a journal, for monitoring.
public struct JournalStatus: Sendable, Equatable {
  /// The state of the compaction.
  public enum Compaction: Sendable, Equatable {
    case idle, running
    /// The last compaction failed, and changed nothing.
    case failed(JournalFailure)
  }

  /// The number of the first state that `replay(_:upTo:reducer:)` returns.
  public var firstNumber = 0
  /// The number of the last commit in the file.
  public var lastNumber = 0
  /// The number of the last commit that is known to be on the disk, or -1.
  public var durableNumber = -1
  /// The length of the file.
  public var fileBytes = 0
  /// The length of all closed files.
  public var segmentBytes = 0
  /// The number of closed files.
  public var segments = 0
  /// The number of bytes at the end of the file that had never reached the disk when the journal was opened.
  public var bytesCutAtOpen = 0
  /// The time of the last synchronization since the journal was opened.
  public var lastSync: Date?
  /// The duration of the last synchronization.
  public var lastSyncDuration: Duration?
  /// The state of the compaction.
  public var compaction = Compaction.idle
}
