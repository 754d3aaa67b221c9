/// A closure that runs at most once, and is then released.
///
/// It is a struct, because generic code copies an optional closure, and then another copy would be
/// released last.
struct OnceClosure: Sendable {
  private let call: @Sendable () -> Void

  init(_ call: @escaping @Sendable () -> Void) {
    self.call = call
  }

  func callAsFunction() { call() }
}
