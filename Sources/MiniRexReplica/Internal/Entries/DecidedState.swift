internal import MiniRexJournal

/// The last entry that a replica has read.
///
/// A log whose entry with this sequence differs is a different log, or was restored.
struct LogPosition: Codable, Hashable, Sendable {
  let sequence: UInt64
  let time: Int64
  let checksum: UInt32

  /// No log counts that far.
  static let lastSequence: UInt64 = 1 << 62

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

  private enum CodingKeys: CodingKey { case position, count, table, state }

  /// Any process may write a snapshot to the log, so each number must be in its range.
  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    position = try container.decodeIfPresent(LogPosition.self, forKey: .position)
    count = try container.decode(Int.self, forKey: .count)
    table = try container.decode(DecisionTable.self, forKey: .table)
    state = try container.decode(State.self, forKey: .state)
    if !(0..<EntryHeader.limit).contains(count) {
      throw DecodingError.dataCorruptedError(
        forKey: .count, in: container, debugDescription: "The number of actions is out of range.")
    }
    if let sequence = position?.sequence, !(1...LogPosition.lastSequence).contains(sequence) {
      throw DecodingError.dataCorruptedError(
        forKey: .position, in: container, debugDescription: "The sequence is out of range.")
    }
  }

  var sequence: UInt64 { position?.sequence ?? 0 }
}
