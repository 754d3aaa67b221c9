/// Runs a closure when the callback that captures it is released.
///
/// The end of a source reaches its subscribers in this way, at no cost for a delivery.
@usableFromInline
package final class Sentinel: Sendable {
  private let onRelease: @Sendable () -> Void

  @usableFromInline
  package init(_ onRelease: @escaping @Sendable () -> Void) {
    self.onRelease = onRelease
  }

  deinit {
    onRelease()
  }
}
