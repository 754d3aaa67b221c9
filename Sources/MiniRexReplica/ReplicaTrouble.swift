/// A problem of a replica with its log, its snapshot, or its files.
public enum ReplicaTrouble: Hashable, Sendable, CustomStringConvertible {
  /// A message without the header of an entry was skipped.
  case stranger(sequence: UInt64)
  /// Entries that an operator had deleted were skipped.
  case removed(Range<UInt64>)
  /// The log was truncated, restored, or replaced, and ended at this sequence.
  ///
  /// The replica has started again from the snapshot, and has sent its pending actions again.
  case rolledBack(to: UInt64)
  /// The log refuses entries, for the given reason, for example because it is full.
  ///
  /// The actions stay pending, and the replica tries again. It is reported once until an action is decided.
  case refused(String)
  /// The snapshot could not be read or written, for the given reason.
  case snapshot(String)
  /// An entry could not be decoded, which stopped the replica.
  case undecodable(sequence: UInt64, reason: String)
  /// The log no longer had these entries. No snapshot contained them, so the replica stopped.
  case missing(Range<UInt64>)
  /// The log may lose entries that replicas need, which stopped the replica.
  case unsuitable(String)
  /// The log has other actions with the numbers of this replica, which stopped the replica.
  ///
  /// Another process uses a copy of the outbox, or the outbox has lost lines in a power failure. Remove the copy.
  case originInUse
  /// The state after this entry differed from the snapshot of another replica, which stopped the replica.
  ///
  /// The reducer or the validator of one of them depends on more than the state and the action.
  case diverged(at: UInt64)
  /// The pending actions, or the decisions about actions with effects, could not be recorded, which stopped the replica.
  case notSynchronized(String)

  /// A sentence about the problem.
  public var description: String {
    switch self {
    case .stranger(let sequence): "No replica sent the message \(sequence)."
    case .removed(let range): "The log no longer has the entries \(range.text)."
    case .rolledBack(let sequence):
      "The log was restored or replaced, and ends at the entry \(sequence)."
    case .refused(let reason): "The log refuses entries, which stay pending: \(reason)"
    case .snapshot(let reason): "The snapshot cannot be used: \(reason)"
    case .undecodable(let sequence, let reason):
      "The entry \(sequence) cannot be decoded: \(reason)"
    case .missing(let range): "Neither the log nor a snapshot has the entries \(range.text)."
    case .originInUse: "Another process uses a copy of the outbox, or the outbox has lost lines."
    case .diverged(let sequence): "The state after the entry \(sequence) differs from the snapshot."
    case .notSynchronized(let reason): "The pending actions are not durable: \(reason)"
    case .unsuitable(let reason): "The log is unsuitable for replicas: \(reason)"
    }
  }
}

extension Range<UInt64> {
  fileprivate var text: String { "\(lowerBound) to \(upperBound - 1)" }
}
