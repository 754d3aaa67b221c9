import MiniRex

/// Tells when it is released.
final class Witness: Sendable {
  private let onRelease: @Sendable () -> Void

  init(_ onRelease: @escaping @Sendable () -> Void) { self.onRelease = onRelease }

  deinit { onRelease() }

  /// What a callback does that has captured it.
  func touch() {}
}

/// An object that is equal to itself only.
final class Thing: Sendable {}

/// Equal to another by its number, and calls out while it is compared and released.
final class Nosy: Equatable, Sendable {
  let number: Int
  let onCompare: @Sendable () -> Void
  let onRelease: @Sendable () -> Void

  init(
    _ number: Int, onCompare: @escaping @Sendable () -> Void = {},
    onRelease: @escaping @Sendable () -> Void = {}
  ) {
    self.number = number
    self.onCompare = onCompare
    self.onRelease = onRelease
  }

  deinit { onRelease() }

  static func == (one: Nosy, other: Nosy) -> Bool {
    one.onCompare()
    return one.number == other.number
  }
}
