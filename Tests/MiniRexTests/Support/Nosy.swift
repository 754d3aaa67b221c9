/// An object that compares its number, and runs closures when it is compared and released.
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
