/// The state of an operator for one subscription.
///
/// Unchecked, and without a lock: only the callbacks of that subscription use it, and they never
/// overlap (R1). Publishers of the user pass through a `Delivery`, and publishers of the library
/// rely only on publishers that do.
@usableFromInline
package final class SerialState<Value>: @unchecked Sendable {
  @usableFromInline @exclusivity(unchecked) package var value: Value

  @inlinable
  package init(_ value: Value) {
    unsafe self.value = value
  }
}
