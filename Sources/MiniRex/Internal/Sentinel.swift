/// Hears that a callback which has captured it is released.
///
/// That is how the end is carried from a source to its subscribers: it costs a delivery nothing.
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
