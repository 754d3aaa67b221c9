/// The pending steps of a chain of ownership on a thread: releases, cancellations, and deliveries.
///
/// A callback may own a subscription or a source whose callback owns the next, a run of work may
/// own a subscription to the next run, and so on. Nested steps of a few thousand links would
/// overflow the stack. A step far below the first step is therefore queued here until the stack is
/// short again. A queued step still belongs to the wait group in which it was queued.
///
/// `release` is for values, `run` for calls, and `start` for calls that may take long.
@usableFromInline
package struct ReleaseChain {
  private enum Link {
    case callback(ErasedCallback)
    case object(AnyObject)
    case call(@Sendable () -> Void)
  }

  private struct Waiting {
    var link: Link?
    let group: WaitGroup?

    mutating func run() {
      guard let group else { return runLink() }
      group.capture { runLink() }
      group.leave()
    }

    private mutating func runLink() {
      switch link.take() {
      case .callback(var callback): callback.releaseNow()
      case .call(let call): call()
      case .object, nil: break
      }
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
  /// The number of bytes of stack for nested calls, whose frames are larger.
  private static let reachOfCalls: UInt = 64 * 1_024

  /// The stack address of the first release, or 0 if none is in progress.
  ///
  /// A call of `start` may take long, so its releases are the first again.
  private let top: UInt
  /// The stack address of the first step.
  private let topOfCalls: UInt
  private var waiting = Queue<Waiting>()

  private init(top: UInt, topOfCalls: UInt) {
    self.top = top
    self.topOfCalls = topOfCalls
  }

  private func isDeep(_ place: UInt) -> Bool { top != 0 && top &- place > ReleaseChain.reach }

  private func isDeepForCalls(_ place: UInt) -> Bool {
    topOfCalls &- place > ReleaseChain.reachOfCalls
  }

  /// Returns `true` for one of four stack addresses, pseudorandomly distributed.
  ///
  /// Only these look up the chain of the thread, because the lookup is expensive for a callback
  /// that owns nothing. A deep chain passes many such addresses. The stack between two of them
  /// varies by chance, so a step with large frames always looks it up. A single multiplication would
  /// not suffice: multiples of some frame sizes would never match.
  @usableFromInline @inline(__always)
  package static func begins(at place: UInt) -> Bool {
    let mixed = UInt32(truncatingIfNeeded: place) &* 0x9E37_79B9
    return (mixed ^ mixed >> 15) &* 0x85EB_CA6B < 1 << 30
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
    if content == nil { return }
    // The address of a local variable, because the content may be a property of an object.
    var mark: UInt8 = 0
    let place = unsafe withUnsafePointer(to: &mark) { UInt(bitPattern: $0) }
    guard begins(at: place) else {
      content = nil
      return
    }
    if add(.object(Box(content.take())), at: place) { return }
    begin(at: place) { content = nil }
  }

  /// Releases a value that its owner has moved out.
  @usableFromInline @inline(never)
  static func release<Content>(_ content: consuming Content, at place: UInt) {
    var content: Content? = content
    if add(.object(Box(content.take())), at: place) { return }
    begin(at: place) { content = nil }
  }

  /// Runs the step now, or by the end of the chain if the stack is deep.
  ///
  /// - Parameter later: A closure that prepares the queued step, and returns `nil` if there is
  ///   nothing to do. Only a deep stack allocates it.
  @usableFromInline @inline(never)
  package static func run(_ step: () -> Void, later: () -> (@Sendable () -> Void)?) {
    var mark: UInt8 = 0
    let place = unsafe withUnsafePointer(to: &mark) { UInt(bitPattern: $0) }
    guard let chain = unsafe ofThread.value else { return begin(at: place, step) }
    if unsafe !chain.pointee.isDeepForCalls(place) { return step() }
    if let step = later() { unsafe append(.call(step), to: chain) }
  }

  /// Runs a step that may take long, and whose releases do not wait for earlier ones.
  ///
  /// If the stack is deep, it runs by the end of the chain.
  static func start(_ step: @escaping @Sendable () -> Void) {
    var mark: UInt8 = 0
    let place = unsafe withUnsafePointer(to: &mark) { UInt(bitPattern: $0) }
    guard let chain = unsafe ofThread.value else {
      return begin(ReleaseChain(top: 0, topOfCalls: place), step)
    }
    if unsafe chain.pointee.isDeepForCalls(place) {
      return unsafe append(.call(step), to: chain)
    }
    begin(ReleaseChain(top: 0, topOfCalls: unsafe chain.pointee.topOfCalls), step)
  }

  /// Runs one step of a loop, whose releases do not wait for the end of the loop.
  ///
  /// If the stack is deep, they wait.
  static func iterate(_ step: () -> Void) {
    var mark: UInt8 = 0
    let place = unsafe withUnsafePointer(to: &mark) { UInt(bitPattern: $0) }
    guard let chain = unsafe ofThread.value, unsafe !chain.pointee.isDeepForCalls(place) else {
      return step()
    }
    begin(ReleaseChain(top: 0, topOfCalls: unsafe chain.pointee.topOfCalls), step)
  }

  /// Runs code of the user, which is no step of the chain that led to it.
  static func interrupted<Result>(by body: () -> Result) -> Result {
    let outer = unsafe ofThread.value
    if unsafe outer == nil { return body() }
    unsafe ofThread.value = nil
    defer { unsafe ofThread.value = outer }
    return body()
  }

  /// Queues a link if the stack is deep, and returns `false` if the link can run now.
  private static func add(_ link: @autoclosure () -> Link, at place: UInt) -> Bool {
    guard let chain = unsafe ofThread.value, unsafe chain.pointee.isDeep(place) else {
      return false
    }
    unsafe append(link(), to: chain)
    return true
  }

  private static func append(_ link: Link, to chain: UnsafeMutablePointer<ReleaseChain>) {
    let group = WaitGroup.current
    group?.enter()
    unsafe chain.pointee.waiting.append(Waiting(link: link, group: group))
  }

  private static func begin(at place: UInt, _ release: () -> Void) {
    let outer = unsafe ofThread.value
    if let outer = unsafe outer, unsafe outer.pointee.top != 0 { return release() }
    let topOfCalls = unsafe outer?.pointee.topOfCalls ?? place
    begin(ReleaseChain(top: place, topOfCalls: topOfCalls), release)
  }

  private static func begin(_ chain: ReleaseChain, _ step: () -> Void) {
    let outer = unsafe ofThread.value
    var chain = chain
    unsafe withUnsafeMutablePointer(to: &chain) { chain in
      unsafe ofThread.value = chain
      step()
      while var next = unsafe chain.pointee.waiting.popFirst() { next.run() }
      unsafe ofThread.value = outer
    }
  }
}
