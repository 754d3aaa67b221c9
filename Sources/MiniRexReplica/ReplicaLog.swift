package import MiniRex

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// An ordered log of entries that all replicas of a store read.
///
/// An accepted entry has one sequence, greater than the sequences before it. The log may lose the answer to an
/// append, refuse entries, and accept an entry of a lost connection later.
package protocol ReplicaLog: Sendable {
  /// Appends an entry and returns its sequence.
  ///
  /// Appends of one replica are sent in order. The entry may be in the log after a failure.
  func append(_ entry: ReplicaMessage) -> PublishedTask<UInt64, ReplicaLogError>

  /// Emits the entries after a sequence in order, each once, and the changes of the connection.
  ///
  /// The broadcaster emits ``ReplicaLogEvent/connected`` before the first entry, also after each reconnect. It calls
  /// its subscriber serially, on any thread.
  func entries(after sequence: UInt64) -> Broadcaster<ReplicaLogEvent>
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

/// An event of a log.
package enum ReplicaLogEvent: Sendable {
  case connected
  case disconnected
  case entry(UInt64, ReplicaMessage)
}

/// A failed append.
package struct ReplicaLogError: Error, Hashable, Sendable {
  package let reason: String

  package init(_ reason: String) { self.reason = reason }
}
