/// The releases of callbacks that a thread has still to make.
///
/// A callback may own a token, or a source, whose callback owns the next, and so on. If each were
/// released inside the one before it, a few thousand would overflow the stack. So what comes up far
/// below the first release waits here until the stack is short again.
struct ReleaseChain {
  private struct Link {
    var callback: EndedCallback
    let release: CallbackRelease
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
  static func release(_ callback: EndedCallback, by release: CallbackRelease, at place: UInt) {
    if let chain = unsafe ofThread.value {
      if unsafe chain.pointee.top &- place > reach {
        unsafe chain.pointee.waiting.append(Link(callback: callback, release: release))
      } else {
        var callback = callback
        release.releaseNow(&callback)
      }
      return
    }
    var chain = ReleaseChain(top: place)
    unsafe withUnsafeMutablePointer(to: &chain) { chain in
      unsafe ofThread.value = chain
      var callback = callback
      release.releaseNow(&callback)
      while var link = unsafe chain.pointee.waiting.popFirst() {
        link.release.releaseNow(&link.callback)
      }
      unsafe ofThread.value = nil
    }
  }
}
