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
  ///
  /// - Parameter use: The use of the store, for the advice.
  @inlinable @inline(__always)
  func enterOutside(on thread: ThreadID, for use: StaticString = #function) {
    if !enter(on: thread) { refuse(use) }
  }

  @inlinable @inline(__always)
  func leave() {
    if access.leave() { wake() }
  }

  /// Runs `body` with exclusive access.
  ///
  /// Only for code of this package, because user code could re-enter.
  @inlinable
  func withAccess<Result>(for use: StaticString = #function, _ body: () -> Result) -> Result {
    enterOutside(on: ThreadID.current, for: use)
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
  func wake() { if wakeParked() { cleanUp() } }

  /// Wakes the waiting threads.
  ///
  /// - Returns: `true` if the caller must perform the deferred cleanups.
  func wakeParked() -> Bool {
    let (parked, needsCleanup) = delivery.lock.withLock { _ in
      defer { underLock.needsCleanup = false }
      return (underLock.parked.takeAll(), underLock.needsCleanup)
    }
    parked.wake()
    return needsCleanup
  }

  /// Gets exclusive access until the member is closed on the same thread.
  func openMember() -> ThreadID {
    let thread = ThreadID.current
    enterOutside(on: thread, for: "a member")
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
  func refuse(_ use: StaticString) -> Never {
    if let writer = unsafe inside.memberWriter,
      unsafe withUnsafeCurrentTask(body: { unsafe $0 != writer })
    {
      refuseSuspension()
    }
    if inside.isReading {
      misuse(
        "\(subject) inside the closure of its own 'send(_:reading:)' or 'send { … }', by '\(use)'. The "
          + "closure's parameter is the state. Use the store after 'send' returns.")
    }
    misuse(
      "\(subject) inside its own reducer or 'commit', by '\(use)'. Use the 'inout' state of the closure, "
        + "or an effect, which starts after the commit.")
  }

  /// The store and the line that created it, for the advice.
  var subject: String { "\(type), created at \(place), was used" }

  var type: String { "Store<\(State.self), \(Action.self)>" }
}
