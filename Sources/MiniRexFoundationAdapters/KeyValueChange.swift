public import Foundation

/// A change of a property that key-value observing has told of.
///
/// It is told of on Apple platforms only; elsewhere there is `publishedValue(of:_:)`.
public struct KeyValueChange<Value: Sendable>: Sendable {
  /// The value before, if it was asked for with `.old`, and there was one.
  public let old: Value?
  /// The value after, if it was asked for with `.new`, and the change is not about to be made only.
  public let new: Value?
  /// True if the change is about to be made, which was asked for with `.prior`.
  public let isPrior: Bool
  /// Which elements of a collection have changed, if it is one and not all have.
  public let indexes: IndexSet?

  /// Makes a change, for tests.
  public init(old: Value? = nil, new: Value?, isPrior: Bool = false, indexes: IndexSet? = nil) {
    self.old = old
    self.new = new
    self.isPrior = isPrior
    self.indexes = indexes
  }
}

/// A property that is named by a string has a value of another type than was said.
public struct KeyValueTypeError: Error, Hashable {
  /// The property.
  public let keyPath: String
  /// The type that was asked for.
  public let expected: String
  /// The type that the value has.
  public let found: String

  /// Makes an error, for tests.
  public init(keyPath: String, expected: String, found: String) {
    self.keyPath = keyPath
    self.expected = expected
    self.found = found
  }
}
