internal import MiniRexJournal

/// The last entry that a replica has read.
///
/// A log whose entry with this sequence differs is a different log, or was restored.
struct LogPosition: Codable, Hashable, Sendable {
  let sequence: UInt64
  let time: Int64
  let checksum: UInt32

  init(_ entry: ReplicaLogEntry) {
    (sequence, time) = (entry.sequence, entry.time)
    checksum = Checksum.of((Array(entry.message.header.utf8) + Array(entry.message.payload))[...])
  }
}

/// The state that follows from the log up to a position.
struct DecidedState<State: Codable & Sendable>: Codable, Sendable {
  /// `nil` before the first entry.
  var position: LogPosition?
  /// The number of actions that were decided.
  var count = 0
  var table = DecisionTable()
  var state: State

  init(_ state: State) { self.state = state }

  var sequence: UInt64 { position?.sequence ?? 0 }
}
