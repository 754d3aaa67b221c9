/// The releases of callbacks that a thread has still to make.
///
/// A callback may own a token, or a source, whose callback owns the next, and so on. If each were
/// released inside the one before it, a few thousand would overflow the stack. So what comes up far
/// below the first release waits here until the stack is short again.
@usableFromInline
struct ReleaseChain {
  private enum Link {
    case callback(LooseCallback)
    case object(AnyObject)

    func release() {
      if case .callback(var callback) = self { callback.releaseNow() }
    }
  }

  /// Keeps what is not an object until its turn comes.
  private final class Box<Content> {
    let content: Content

    init(_ content: Content) {
      self.content = content
    }
  }

  private static let ofThread = ThreadLocalAddress<ReleaseChain>()
  /// How many bytes of stack releases inside releases may take before others wait for them.
  private static let reach: UInt = 16 * 1_024

  /// Where on the stack the first release is made.
  private let top: UInt
  private var waiting = Queue<Link>()

  private init(top: UInt) {
    self.top = top
  }

  /// True in one place of the stack in eight, spread as if by chance.
  ///
  /// Only there is the thread asked for its chain, because that takes long for a callback that owns
  /// nothing; a chain that needs much stack comes through many such places. One multiplication
  /// would not do: there are sizes of frames whose multiples it keeps away from the eighth.
  @inline(__always)
  static func begins(at place: UInt) -> Bool {
    let mixed = UInt32(truncatingIfNeeded: place) &* 0x9E37_79B9
    return (mixed ^ mixed >> 15) &* 0x85EB_CA6B < 1 << 29
  }

  /// Releases the callback now, or, far below another release of this thread, after that one.
  @inline(never)
  static func release(_ callback: LooseCallback, at place: UInt) {
    if add(.callback(callback), at: place) { return }
    var callback = callback
    begin(at: place) { callback.releaseNow() }
  }

  /// Releases anything else in the same way.
  @usableFromInline
  static func release<Content>(_ content: inout Content?) {
    let place = unsafe withUnsafePointer(to: &content) { UInt(bitPattern: $0) }
    if content == nil { return }
    guard begins(at: place) else {
      content = nil
      return
    }
    if add(.object(Box(content.take())), at: place) { return }
    begin(at: place) { content = nil }
  }

  /// Runs what is no part of a release, although a release has led to it: its own releases wait for
  /// none of those before.
  static func interrupted<Result>(by body: () -> Result) -> Result {
    let outer = unsafe ofThread.value
    if unsafe outer == nil { return body() }
    unsafe ofThread.value = nil
    defer { unsafe ofThread.value = outer }
    return body()
  }

  /// False if the stack is short enough to release it now.
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
