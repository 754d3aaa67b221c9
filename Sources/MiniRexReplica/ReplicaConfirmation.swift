/// The decision about an accepted action that was sent here.
public struct ReplicaConfirmation: Hashable, Sendable {
  /// The sequence of the action's entry in the log.
  ///
  /// Actions that were sent together can have the same entry.
  public let sequence: UInt64
  /// The number of actions of other replicas that were decided between the state at the send and the decision.
  ///
  /// 0 means that the prediction was exact.
  public let overtakenBy: Int

  /// Creates a confirmation.
  public init(sequence: UInt64, overtakenBy: Int) {
    (self.sequence, self.overtakenBy) = (sequence, overtakenBy)
  }
}
