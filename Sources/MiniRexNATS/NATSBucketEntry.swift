#if NATS
/// A number that a bucket assigns to each change, greater than all numbers before it.
public struct NATSRevision: Hashable, Sendable, Comparable, CustomStringConvertible {
  /// The number, as other NATS clients use it.
  public let number: UInt64

  /// Creates a revision with a number.
  public init(_ number: UInt64) { self.number = number }

  /// The revision of a key that never had a value.
  public static let none = NATSRevision(0)

  /// Returns `true` if the first revision is earlier.
  public static func < (first: NATSRevision, second: NATSRevision) -> Bool {
    first.number < second.number
  }

  /// The number.
  public var description: String { "\(number)" }
}

/// The state of a key in a bucket.
public enum NATSBucketEntry<Value: Sendable>: Sendable {
  /// The server has not sent the state yet.
  case unknown
  /// The key has no value.
  ///
  /// The revision belongs to the deletion, or is ``NATSRevision/none``.
  case absent(NATSRevision)
  /// The key has a value.
  case present(Value, NATSRevision)

  /// The value, or `nil` if the key has none.
  public var value: Value? {
    if case .present(let value, _) = self { value } else { nil }
  }

  /// The revision to replace, or `nil` while it is unknown.
  public var revision: NATSRevision? {
    switch self {
    case .unknown: nil
    case .absent(let revision), .present(_, let revision): revision
    }
  }
}

extension NATSBucketEntry: Equatable where Value: Equatable {}

extension NATSBucketEntry: Hashable where Value: Hashable {}

/// The treatment of changes that a published value missed while it was disconnected.
public enum NATSCatchUp: Sendable {
  /// Emits the value that is current after the reconnect.
  case latest
  /// Emits all changes that the bucket still has.
  ///
  /// See ``NATSBucketOptions/history``.
  case everyRevision
}
#endif
