/// An object that calls a closure when it is released.
package final class Witness: Sendable {
  private let onRelease: @Sendable () -> Void

  package init(_ onRelease: @escaping @Sendable () -> Void) { self.onRelease = onRelease }

  deinit { onRelease() }

  /// Does nothing, for a callback that captures the witness.
  package func touch() {}
}

/// An object without members.
package final class Thing: Sendable {
  package init() {}
}
