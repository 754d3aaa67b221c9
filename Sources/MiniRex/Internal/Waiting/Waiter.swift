/// A suspended loop.
///
/// The thread that takes it out of the state, under the lock, resumes it after the lock. Therefore
/// it is resumed once.
@usableFromInline @safe
package struct Waiter: Sendable {
  private let continuation: UnsafeContinuation<Void, Never>

  package init(_ continuation: UnsafeContinuation<Void, Never>) {
    unsafe self.continuation = continuation
  }

  @usableFromInline
  package func resume() {
    unsafe continuation.resume()
  }
}
