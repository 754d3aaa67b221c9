package import MiniRex
internal import MiniRexJournal

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// An ordered log of entries that all replicas of a store read.
///
/// An accepted entry has one sequence, greater than the sequences before it. The log may lose the answer to an
/// append, refuse entries, and accept an entry of a lost connection later. A restored log may end before entries that
/// replicas have read, which ``ReplicaLogEvent/connected(_:)`` reveals.
package protocol ReplicaLog: Sendable {
  /// Appends an entry and returns its sequence.
  ///
  /// Appends of one replica are sent in order. The entry may be in the log after a failure.
  func append(_ entry: ReplicaMessage) -> PublishedTask<UInt64, ReplicaLogError>

  /// Emits the entries after a sequence in order, each once, and the changes of the connection.
  ///
  /// The broadcaster emits ``ReplicaLogEvent/connected(_:)`` before the first entry, also after each reconnect. It calls
  /// its subscriber serially, on any thread.
  func entries(after sequence: UInt64) -> Broadcaster<ReplicaLogEvent>

  /// The number of actions between two snapshots, or 0 for none.
  var snapshotDistance: Int { get }

  /// Reads the snapshot, or `nil` if the log has none.
  func snapshot() -> PublishedTask<Data?, ReplicaLogError>

  /// Emits the digest of the stored snapshot, if there is one, then of each snapshot that replaces it.
  func digests() -> Broadcaster<ReplicaDigest>

  /// Replaces the snapshot, then removes entries before it.
  ///
  /// The log keeps the stored snapshot if that is newer and belongs to its entries. It always keeps the entry of the
  /// snapshot, and fails without this entry.
  func replaceSnapshot(_ snapshot: ReplicaLogSnapshot) -> PublishedTask<Void, ReplicaLogError>
}

/// The header and the payload of an entry.
package struct ReplicaMessage: Hashable, Sendable {
  /// The origin, the number of the first action, and the highest decided number, separated by spaces.
  package let header: String
  /// One line of JSON for each action.
  package let payload: Data

  package init(header: String, payload: Data) {
    self.header = header
    self.payload = payload
  }
}

/// A message of the log, with its place.
package struct ReplicaLogEntry: Hashable, Sendable {
  package let sequence: UInt64
  /// The time at which the log stored the entry, in nanoseconds since 1970.
  package let time: Int64
  package let message: ReplicaMessage

  package init(sequence: UInt64, time: Int64, _ message: ReplicaMessage) {
    (self.sequence, self.time, self.message) = (sequence, time, message)
  }
}

/// The content of the log when a connection begins.
package struct ReplicaLogState: Hashable, Sendable {
  /// The sequence of the first entry, or of the next entry if the log is empty.
  package let first: UInt64
  /// The sequence of the last entry that was appended.
  package let last: UInt64
  /// The time of the last entry that the log has, in nanoseconds since 1970, or 0.
  package let lastTime: Int64
  /// The entry after which the reading continues, or `nil` if the log does not have it.
  package let entry: ReplicaLogEntry?

  package init(first: UInt64, last: UInt64, lastTime: Int64, entry: ReplicaLogEntry?) {
    (self.first, self.last, self.lastTime, self.entry) = (first, last, lastTime, entry)
  }
}

/// The state of a replica after an entry of the log.
package struct ReplicaLogSnapshot: Hashable, Sendable {
  /// The sequence of the entry.
  package let sequence: UInt64
  /// The time at which the log stored the entry.
  package let time: Int64
  package let data: Data

  package init(sequence: UInt64, time: Int64, _ data: Data) {
    (self.sequence, self.time, self.data) = (sequence, time, data)
  }
}

/// A short form of a snapshot, to compare states.
package struct ReplicaDigest: Hashable, Sendable {
  /// The sequence of the entry.
  package let sequence: UInt64
  /// The time at which the log stored the entry.
  package let time: Int64
  /// The checksum of the snapshot's data.
  package let checksum: UInt32

  package init(sequence: UInt64, time: Int64, checksum: UInt32) {
    (self.sequence, self.time, self.checksum) = (sequence, time, checksum)
  }

  /// Creates the digest of a snapshot.
  package init(_ snapshot: ReplicaLogSnapshot) {
    (sequence, time) = (snapshot.sequence, snapshot.time)
    checksum = Checksum.of([UInt8](snapshot.data)[...])
  }
}

/// An event of a log.
package enum ReplicaLogEvent: Sendable {
  case connected(ReplicaLogState)
  case disconnected
  case entry(ReplicaLogEntry)
  /// The log may lose entries that replicas need, for the given reason.
  case unsuitable(String)
}

/// A failed operation of the log.
package struct ReplicaLogError: Error, Hashable, Sendable {
  package let reason: String

  package init(_ reason: String) { self.reason = reason }
}
