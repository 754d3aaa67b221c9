/// The newest value of one input.
///
/// Unchecked, and without a lock: only the delivering thread of a `Combination` uses it.
@usableFromInline
final class CombinationCell<Value: Sendable>: @unchecked Sendable {
  @usableFromInline @exclusivity(unchecked) var value: Value?

  @inlinable
  init() {}

  /// - Returns: `false` if the value has not changed.
  @inlinable @inline(__always)
  func change(to next: Value, _ changeTest: ChangeTest<Value>) -> Bool {
    if let last = unsafe value, !changeTest(last, next) { return false }
    unsafe value = next
    return true
  }

  @inlinable
  func read() throws(ValueIsMissing) -> Value {
    guard let value = unsafe value else { throw ValueIsMissing() }
    return value
  }
}

@usableFromInline
struct ValueIsMissing: Error {
  @inlinable init() {}
}
