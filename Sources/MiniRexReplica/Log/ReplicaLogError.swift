/// A failed operation of a log.
public struct ReplicaLogError: Error, Hashable, Sendable, CustomStringConvertible {
  /// A sentence for people.
  public let reason: String

  /// Creates an error.
  public init(_ reason: String) { self.reason = reason }

  /// The reason.
  public var description: String { reason }
}
