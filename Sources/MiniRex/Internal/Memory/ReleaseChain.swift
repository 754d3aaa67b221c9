/// The pending releases of callbacks on a thread.
///
/// A callback may own a subscription or a source whose callback owns the next, and so on. Nested
/// releases of a few thousand would overflow the stack. A release far below the first one is
/// therefore queued here until the stack is short again.
@usableFromInline
package struct ReleaseChain {
  private enum Link {
    case callback(ErasedCallback)
    case object(AnyObject)

    func release() {
      if case .callback(var callback) = self { callback.releaseNow() }
    }
  }

  /// Holds a queued value that is not an object.
  private final class Box<Content> {
    let content: Content

    init(_ content: Content) {
      self.content = content
    }
  }

  private static let ofThread = ThreadLocalAddress<ReleaseChain>()
  /// The number of bytes of stack for nested releases.
  ///
  /// Further releases are queued.
  private static let reach: UInt = 16 * 1_024

  /// The stack address of the first release.
  private let top: UInt
  private var waiting = Queue<Link>()

  private init(top: UInt) {
    self.top = top
  }

  /// Returns `true` for one of eight stack addresses, pseudorandomly distributed.
  ///
  /// Only these look up the chain of the thread, because the lookup is expensive for a callback
  /// that owns nothing. A deep chain passes many such addresses. A single multiplication would not
  /// suffice: multiples of some frame sizes would never match.
  @inline(__always)
  static func begins(at place: UInt) -> Bool {
    let mixed = UInt32(truncatingIfNeeded: place) &* 0x9E37_79B9
    return (mixed ^ mixed >> 15) &* 0x85EB_CA6B < 1 << 29
  }

  /// Releases the callback now, or queues it if the stack is deep.
  @inline(never)
  static func release(_ callback: ErasedCallback, at place: UInt) {
    if add(.callback(callback), at: place) { return }
    var callback = callback
    begin(at: place) { callback.releaseNow() }
  }

  /// Releases any other value in the same way.
  @usableFromInline
  package static func release<Content>(_ content: inout Content?) {
    let place = unsafe withUnsafePointer(to: &content) { UInt(bitPattern: $0) }
    if content == nil { return }
    guard begins(at: place) else {
      content = nil
      return
    }
    if add(.object(Box(content.take())), at: place) { return }
    begin(at: place) { content = nil }
  }

  /// Runs a body that is not part of the release that led to it.
  ///
  /// Its own releases do not wait for earlier ones.
  static func interrupted<Result>(by body: () -> Result) -> Result {
    let outer = unsafe ofThread.value
    if unsafe outer == nil { return body() }
    unsafe ofThread.value = nil
    defer { unsafe ofThread.value = outer }
    return body()
  }

  /// Returns `false` if the stack is short enough to release it now.
  private static func add(_ link: @autoclosure () -> Link, at place: UInt) -> Bool {
    guard let chain = unsafe ofThread.value, unsafe chain.pointee.top &- place > reach else {
      return false
    }
    unsafe chain.pointee.waiting.append(link())
    return true
  }

  private static func begin(at place: UInt, _ release: () -> Void) {
    if unsafe ofThread.value != nil { return release() }
    var chain = ReleaseChain(top: place)
    unsafe withUnsafeMutablePointer(to: &chain) { chain in
      unsafe ofThread.value = chain
      release()
      while let link = unsafe chain.pointee.waiting.popFirst() { link.release() }
      unsafe ofThread.value = nil
    }
  }
}
