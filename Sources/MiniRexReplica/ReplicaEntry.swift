/// A decided action.
public struct ReplicaEntry<Action: Sendable>: Sendable {
  /// The sequence of the entry in the log.
  public let sequence: UInt64
  /// The random name of the replica that sent the action, which its outbox keeps.
  public let origin: String
  /// The number of the action, counted by its origin from 1.
  public let number: Int
  /// The action.
  public let action: Action
  /// A Boolean value that indicates whether the action was reduced, rather than rejected by the validator.
  public let isAccepted: Bool
}
