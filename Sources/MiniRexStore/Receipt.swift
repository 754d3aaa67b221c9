/// A value that a ``Store/send(_:reading:)`` read from its own commit, with the task of its effects.
///
/// ```swift
/// let receipt = store.send(.add(1)) { $0.count }
/// print(receipt.value)
/// ```
public struct Receipt<Value> {
  /// The value that the closure returned.
  public let value: Value
  /// The effects of the action.
  public let task: StoreTask

  @inlinable
  init(_ value: Value, _ task: StoreTask) {
    self.value = value
    self.task = task
  }

  /// The number of the commit that was read.
  ///
  /// It is `nil` if the action was sent to a scope whose child was removed.
  @inlinable
  public var number: Int? { task.number }
}

extension Receipt: Sendable where Value: Sendable {}
