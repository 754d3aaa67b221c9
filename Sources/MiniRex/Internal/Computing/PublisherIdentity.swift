/// The identity of the closure that connects a publisher.
///
/// Copies of a publisher share it. Two publishers in memory never do, unless their closures capture
/// nothing and are therefore equal.
@usableFromInline
struct PublisherIdentity: Hashable, Sendable {
  private let function: UInt
  private let context: UInt

  init<Value, Kind>(_ publisher: Publisher<Value, Kind>) {
    // `connect` is the first property: the address of its code, and of its captures.
    (function, context) = unsafe withUnsafeBytes(of: publisher) {
      unsafe $0.load(as: (UInt, UInt).self)
    }
  }
}
