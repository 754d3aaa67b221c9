/// The reason why an action failed, or why a replica cannot wait.
public enum ReplicaError: Error, CustomStringConvertible {
  /// The validator threw this error, at the send or at the decision.
  ///
  /// The action has changed nothing.
  case rejected(any Error)
  /// As many actions are pending as the limit permits. The action has changed nothing.
  case tooManyPending(limit: Int)
  /// The action could not be encoded, and has changed nothing.
  case notEncodable(any Error)
  /// The outbox could not be opened, is damaged, or belongs to another replica. Or an action could not be written to it,
  /// and has changed nothing.
  case notKept(any Error)
  /// The outbox has an action that could not be decoded. Its file is unchanged.
  case notDecodable(any Error)
  /// The decision about the action is unknown: the log has lost it, or a snapshot contains it.
  case unresolved
  /// The replica was closed or released. The log may contain the action.
  ///
  /// With a folder, the action is still pending there, and the next replica sends it.
  case closed
  /// The replica has stopped because of a problem. The log may contain the action.
  ///
  /// With a folder, the action is still pending there, and the next replica sends it.
  case stopped(ReplicaTrouble)

  /// A sentence about the error.
  public var description: String {
    switch self {
    case .rejected(let error): "The action was rejected: \(error)"
    case .tooManyPending(let limit): "\(limit) actions are pending. Wait for the log."
    case .notEncodable(let error): "The action cannot be encoded: \(error)"
    case .notKept(let error): "The outbox cannot be used: \(error)"
    case .notDecodable(let error): "An action of the outbox cannot be decoded: \(error)"
    case .unresolved: "The decision about the action is unknown."
    case .closed: "The replica was closed."
    case .stopped(let trouble): "The replica has stopped. \(trouble)"
    }
  }
}
