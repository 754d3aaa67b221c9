/// What an operator remembers for one subscription.
///
/// Unchecked, and without a lock: it is touched by the callbacks of that subscription only, which
/// never overlap (rule R1). That holds because a publisher that a user makes passes through a
/// `Delivery`, and the library's own trust only publishers that do.
@usableFromInline
package final class SerialState<Value>: @unchecked Sendable {
  @usableFromInline @exclusivity(unchecked) package var value: Value

  @inlinable
  package init(_ value: Value) {
    unsafe self.value = value
  }
}
