/// A number that a bucket gives each change; later ones are greater.
public struct Revision: Hashable, Sendable, Comparable, CustomStringConvertible {
  /// The number, as other clients know it.
  public let number: UInt64

  /// Makes one of its number.
  public init(_ number: UInt64) { self.number = number }

  /// That of a key which never had a value.
  public static let none = Revision(0)

  /// True if the first one is earlier.
  public static func < (first: Revision, second: Revision) -> Bool { first.number < second.number }

  /// The number.
  public var description: String { "\(number)" }
}

/// What is known of a key.
public enum BucketEntry<Value: Sendable>: Sendable {
  /// Nothing yet: the server has not said.
  case unknown
  /// It has no value; the revision is that of the deletion, or ``Revision/none``.
  case absent(Revision)
  /// It has a value.
  case present(Value, Revision)

  /// The value, if it has one.
  public var value: Value? {
    if case .present(let value, _) = self { value } else { nil }
  }

  /// The revision to replace; `nil` if that is not known.
  public var revision: Revision? {
    switch self {
    case .unknown: nil
    case .absent(let revision), .present(_, let revision): revision
    }
  }
}

extension BucketEntry: Equatable where Value: Equatable {}

extension BucketEntry: Hashable where Value: Hashable {}

/// What a published value does about changes that it missed while there was no connection.
public enum CatchingUp: Sendable {
  /// It goes on with the value that is current then.
  case latest
  /// It goes through all changes that the bucket still has; see ``NATSBucketOptions/history``.
  case everyRevision
}
