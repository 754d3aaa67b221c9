/// The decision about an action that was sent here.
package struct Confirmation: Hashable, Sendable {
  /// The sequence of the entry.
  package let sequence: UInt64
  /// The number of actions of other replicas that were decided between the state at the send and the decision.
  ///
  /// 0 means that the prediction was exact.
  package let overtakenBy: Int

  package init(sequence: UInt64, overtakenBy: Int) {
    (self.sequence, self.overtakenBy) = (sequence, overtakenBy)
  }
}

/// A failed action.
package enum ReplicaError: Error, CustomStringConvertible {
  /// The validator threw an error, at the send or at the decision.
  case rejected(any Error)
  /// The pending actions reached the limit.
  case tooManyPending(limit: Int)
  /// The action could not be encoded.
  case notEncodable(any Error)
  /// The file of the pending actions could not be written.
  case notKept(any Error)
  /// The decision is unknown: the log has lost it, or a snapshot contains it.
  case unresolved
  /// The replica was closed.
  case closed

  package var description: String {
    switch self {
    case .rejected(let error): "The action was rejected: \(error)"
    case .tooManyPending(let limit): "\(limit) actions are pending. Wait for the log."
    case .notEncodable(let error): "The action cannot be encoded: \(error)"
    case .notKept(let error): "The file of the pending actions cannot be written: \(error)"
    case .unresolved: "The decision about the action is unknown."
    case .closed: "The replica was closed."
    }
  }
}

/// A decided action.
package struct ReplicaEntry<Action: Sendable>: Sendable {
  package let sequence: UInt64
  package let origin: String
  package let number: Int
  package let action: Action
  package let isAccepted: Bool
}

/// An action that was sent through the store, and rejected.
package struct Rejection<Action: Sendable>: Sendable {
  package let action: Action
  package let error: ReplicaError
}

/// The position of a replica.
package struct ReplicaProgress: Hashable, Sendable {
  package enum Phase: Hashable, Sendable { case offline, connected, stopped }

  package var phase = Phase.offline
  /// The sequence of the last entry that was read.
  package var sequence: UInt64 = 0
  /// The number of actions that are not decided.
  package var pending = 0
  /// The reason why the replica stopped, or `nil`.
  package var trouble: ReplicaTrouble?
}
