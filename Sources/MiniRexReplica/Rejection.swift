/// A failed action that was sent through the store of a replica.
public struct Rejection<Action: Sendable>: Sendable {
  /// The action.
  public let action: Action
  /// The reason.
  public let error: ReplicaError
}
