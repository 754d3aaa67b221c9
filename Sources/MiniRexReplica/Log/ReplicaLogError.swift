/// A failed operation of a log.
public struct ReplicaLogError: Error, Hashable, Sendable, CustomStringConvertible {
  /// A sentence for people.
  public let reason: String
  /// A Boolean value that indicates whether the log has received the entry and does not store it.
  ///
  /// A replica reports that with ``ReplicaTrouble/refused(_:)``. It does not report a lost connection.
  public let isRefusal: Bool

  /// Creates an error.
  public init(_ reason: String, isRefusal: Bool = false) {
    (self.reason, self.isRefusal) = (reason, isRefusal)
  }

  /// The reason.
  public var description: String { reason }
}
