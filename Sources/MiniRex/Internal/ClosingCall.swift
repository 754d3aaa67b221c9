/// A closure that is called at most once, and then released.
///
/// It is a struct because an optional closure, handed on by generic code, is copied on the way: the
/// one who releases it last would be somebody else.
struct ClosingCall: Sendable {
  private let call: @Sendable () -> Void

  init(_ call: @escaping @Sendable () -> Void) {
    self.call = call
  }

  func callAsFunction() { call() }
}
