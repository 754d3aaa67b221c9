#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The lines of a file that are known to be on the disk, and the synchronizations.
struct JournalDisk: Sendable {
  /// The number of the last commit that is known to be on the disk, or -1.
  var durable: Int
  /// The length that is known to be on the disk.
  var length = 0
  /// The failed synchronization after which nothing is written to the file.
  var lost: JournalFailure?
  var syncs = 0
  var lastSync: Date?
  var lastSyncDuration: Duration?

  init(durable: Int) {
    self.durable = durable
  }

  mutating func countSync(_ duration: Duration) {
    syncs += 1
    lastSync = Date()
    lastSyncDuration = duration
  }
}
