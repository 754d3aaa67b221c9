/// A callback that only forwards updates, declared on its thread during its subscription.
///
/// Shared work recognizes the callback by its two words. An operator between, such as `map`, would
/// subscribe another callback.
struct ForwardedCallback {
  private static let ofThread = ThreadLocalAddress<ForwardedCallback>()

  private let words: (UInt, UInt)
  private let forwarder: AnyObject

  static func declare<Update>(
    _ receive: @escaping @Sendable (Update) -> Void, for forwarder: AnyObject,
    _ subscribe: () -> Subscription
  ) -> Subscription {
    let outer = unsafe ofThread.value
    var declared = ForwardedCallback(words: words(of: receive), forwarder: forwarder)
    return unsafe withUnsafeMutablePointer(to: &declared) { declared in
      unsafe ofThread.value = declared
      defer { unsafe ofThread.value = outer }
      return subscribe()
    }
  }

  /// Returns the object that declared the callback, or `nil` for any other callback.
  @inline(__always)
  static func forwarder<Update>(of receive: @escaping @Sendable (Update) -> Void) -> AnyObject? {
    guard let declared = unsafe ofThread.value else { return nil }
    return unsafe declared.pointee.words == words(of: receive) ? declared.pointee.forwarder : nil
  }

  private static func words<Update>(
    of receive: @escaping @Sendable (Update) -> Void
  ) -> (UInt, UInt) {
    var callback = ErasedCallback(receive)
    defer { callback.releaseNow() }
    return callback.words
  }
}
