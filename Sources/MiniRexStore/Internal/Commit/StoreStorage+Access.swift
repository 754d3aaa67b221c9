public import MiniRex

extension StoreStorage {
  /// - Returns: `false` if the thread already has exclusive access.
  @inlinable @inline(__always)
  func enter(on thread: ThreadID) -> Bool {
    switch access.enter(on: thread) {
    case .reduce: return true
    case .queue: return false
    case .wait:
      enterLater(on: thread)
      return true
    }
  }

  /// Gets exclusive access.
  ///
  /// Traps if the thread already has it.
  @inlinable @inline(__always)
  func enterOutside(on thread: ThreadID) {
    if !enter(on: thread) { refuse() }
  }

  @inlinable @inline(__always)
  func leave() {
    if access.leave() { wake() }
  }

  /// Runs `body` with exclusive access.
  ///
  /// Only for code of this package, because user code could re-enter.
  @inlinable
  func withAccess<Result>(_ body: () -> Result) -> Result {
    enterOutside(on: ThreadID.current)
    defer { leave() }
    return body()
  }

  @usableFromInline
  func enterLater(on thread: ThreadID) {
    repeat { waitUntilFree() } while access.enter(on: thread) != .reduce
  }

  /// A chain takes less time than a sleep, so a thread polls before it sleeps.
  private static var looks: Int { 100 }

  private func waitUntilFree() {
    for _ in 0..<Self.looks where access.isFree { return }
    let parking: Parking? = delivery.lock.withLock { _ in
      guard access.wait() else { return nil }
      return underLock.parked.park()
    }
    parking?.wait()
  }

  @usableFromInline
  func wake() {
    delivery.lock.withLock { _ in underLock.parked.takeAll() }.wake()
  }

  /// Gets exclusive access until the member is closed on the same thread.
  func openMember() -> ThreadID {
    let thread = ThreadID.current
    enterOutside(on: thread)
    unsafe inside.memberWriter = withUnsafeCurrentTask { unsafe $0 }
    return thread
  }

  /// Traps on another thread: the method was suspended and kept exclusive access.
  func closeMember(openedOn thread: ThreadID) {
    if ThreadID.current != thread { refuseSuspension() }
    unsafe inside.memberWriter = nil
  }

  private func refuseSuspension() -> Never {
    misuse(
      "A mutating async method of a Store's member, as in 'await store.counter.bump()', keeps exclusive "
        + "access while it is suspended. Change a copy and write it back: 'var counter = store.counter', "
        + "'await counter.bump()', 'store.counter = counter'.")
  }

  @usableFromInline
  func refuse() -> Never {
    if let writer = unsafe inside.memberWriter,
      unsafe withUnsafeCurrentTask(body: { unsafe $0 != writer })
    {
      refuseSuspension()
    }
    if inside.isReading {
      misuse(
        "A Store was used inside the closure of its own 'send(_:reading:)' or 'send { … }'. The "
          + "closure's parameter is the state. Use the store after 'send' returns.")
    }
    misuse(
      "A Store was used inside its own reducer or 'commit'. Use the 'inout' state of the closure, or an "
        + "effect, which starts after the commit.")
  }
}
