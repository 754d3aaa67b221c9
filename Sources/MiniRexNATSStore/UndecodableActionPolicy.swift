#if NATS
/// The reaction of a replica to an action of another replica that it cannot decode.
///
/// Such an action usually comes from a newer version of the program. All replicas of a stream need
/// the same policy and the same version of the action's type. Otherwise their states differ.
public enum UndecodableActionPolicy: Sendable, Hashable {
  /// Stops the replica with ``ReplicaFailure/undecodable(sequence:type:reason:)``.
  case stop
  /// Skips the action, and reports it on the diagnostics of the connection.
  case setAside
}
#endif
