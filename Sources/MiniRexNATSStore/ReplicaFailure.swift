#if NATS
/// The reason why a replica stopped, or could not start.
public enum ReplicaFailure: Error, Hashable, CustomStringConvertible {
  /// The message with this sequence could not be decoded as an action of the type.
  case undecodable(sequence: UInt64, type: String, reason: String)
  /// The stream no longer had these sequences, which no snapshot contained.
  case missing(Range<UInt64>)
  /// The server may remove actions from the stream, so a late replica could not read them.
  case unsuitable(reason: String)
  /// The stream was removed and created again, so the state of this replica is in no stream.
  case replaced
  /// The value in the bucket under the key could not be decoded as a snapshot of the state.
  case snapshot(key: String, reason: String)
  /// The connection was closed.
  case closed

  /// A sentence about the failure.
  public var description: String {
    switch self {
    case .undecodable(let sequence, let type, let reason):
      "The message with sequence \(sequence) cannot be decoded as \(type): \(reason)"
    case .missing(let sequences):
      "The stream no longer has the sequences \(sequences.lowerBound) to \(sequences.upperBound - 1)."
    case .unsuitable(let reason): "The stream is unsuitable for replicas: \(reason)"
    case .replaced: "The stream was removed and created again."
    case .snapshot(let key, let reason): "The snapshot '\(key)' cannot be decoded: \(reason)"
    case .closed: "The connection was closed."
    }
  }
}
#endif
