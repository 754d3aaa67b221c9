/// The newest value of one input.
///
/// The delivering thread of a `Combination` uses it. With a `TaskCollector`, the callback of the task
/// writes it once, before the event that counts the success. Only the success of all tasks reads it.
@usableFromInline typealias CombinationCell<Value: Sendable> = SerialState<Value?>

/// Creates the cell of an element of a pack, for which the initializer does not compile.
func emptyCell<Value: Sendable>(for _: Value.Type) -> CombinationCell<Value> { SerialState() }

extension SerialState {
  @inlinable
  convenience init<Wrapped>() where Value == Wrapped? { self.init(nil) }

  /// - Returns: `false` if the value has not changed.
  @inlinable @inline(__always)
  func change<Wrapped>(to next: Wrapped, _ changeTest: ChangeTest<Wrapped>) -> Bool
  where Value == Wrapped? {
    if let last = unsafe value, !changeTest(last, next) { return false }
    unsafe value = next
    return true
  }

  @inlinable
  func read<Wrapped>() throws(ValueIsMissing) -> Wrapped where Value == Wrapped? {
    guard let value = unsafe value else { throw ValueIsMissing() }
    return value
  }
}

@usableFromInline
struct ValueIsMissing: Error {
  @inlinable init() {}
}
