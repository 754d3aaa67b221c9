public import Foundation

/// A change reported by key-value observing.
///
/// Apple platforms only. Elsewhere, use `publishedValue(of:_:)`.
public struct KeyValueChange<Value: Sendable>: Sendable {
  /// The previous value, if the options contain `.old` and a previous value exists.
  public let old: Value?
  /// The new value, if the options contain `.new` and the change is not a prior notification.
  public let new: Value?
  /// A Boolean value that indicates whether the change is about to happen, as requested with
  /// `.prior`.
  public let isPrior: Bool
  /// The changed elements of a collection, unless all have changed.
  public let indexes: IndexSet?

  /// Creates a change, for tests.
  public init(old: Value? = nil, new: Value?, isPrior: Bool = false, indexes: IndexSet? = nil) {
    self.old = old
    self.new = new
    self.isPrior = isPrior
    self.indexes = indexes
  }
}

/// The value of a property has an unexpected type.
public struct KeyValueTypeError: Error, Hashable {
  /// The key path of the property.
  public let keyPath: String
  /// The expected type.
  public let expected: String
  /// The type of the value.
  public let found: String

  /// Creates an error, for tests.
  public init(keyPath: String, expected: String, found: String) {
    self.keyPath = keyPath
    self.expected = expected
    self.found = found
  }
}
