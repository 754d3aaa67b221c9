/// Tells when it is released.
package final class Witness: Sendable {
  private let onRelease: @Sendable () -> Void

  package init(_ onRelease: @escaping @Sendable () -> Void) { self.onRelease = onRelease }

  deinit { onRelease() }

  /// What a callback does that has captured it.
  package func touch() {}
}

/// An object that is equal to itself only.
package final class Thing: Sendable {
  package init() {}
}
