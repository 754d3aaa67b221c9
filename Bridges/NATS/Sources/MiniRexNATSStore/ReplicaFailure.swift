/// Why a replica has stopped, or could not begin.
public enum ReplicaFailure: Error, Hashable, CustomStringConvertible {
  /// What stands at this sequence of the stream is no action of the type, and what the decoder says.
  case undecodable(sequence: UInt64, type: String, reason: String)
  /// The stream does not have these any more, and no snapshot begins after them.
  case missing(Range<UInt64>)
  /// The stream was removed and made anew, so what has been committed here stands nowhere else.
  case replaced
  /// What stands in the bucket under the key is no snapshot of the state, and what the decoder says.
  case snapshot(key: String, reason: String)
  /// The connection has been closed.
  case closed

  /// One sentence.
  public var description: String {
    switch self {
    case .undecodable(let sequence, let type, let reason):
      "What has sequence \(sequence) is no \(type): \(reason)"
    case .missing(let sequences):
      "The stream no longer has \(sequences.lowerBound) to \(sequences.upperBound - 1)."
    case .replaced: "The stream was removed and made anew."
    case .snapshot(let key, let reason): "The snapshot '\(key)' cannot be read: \(reason)"
    case .closed: "The connection has been closed."
    }
  }
}
