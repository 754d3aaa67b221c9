public import MiniRex

extension StoreStorage {
  /// - Returns: False if the thread has the state already.
  @inlinable @inline(__always)
  func enter(on thread: ThreadID) -> Bool {
    switch gate.enter(on: thread) {
    case .reduce: return true
    case .queue: return false
    case .wait:
      enterLater(on: thread)
      return true
    }
  }

  /// Has the state, or stops the program if it is the thread's own reducer that asks for it.
  @inlinable @inline(__always)
  func enterOutside(on thread: ThreadID) {
    if !enter(on: thread) { refuse() }
  }

  @inlinable @inline(__always)
  func leave() {
    if gate.leave() { wake() }
  }

  /// Runs `body`, which is the package's, with exclusive access.
  @inlinable
  func withAccess<Result>(_ body: () -> Result) -> Result {
    enterOutside(on: ThreadID.current)
    defer { leave() }
    return body()
  }

  @usableFromInline
  func enterLater(on thread: ThreadID) {
    repeat { waitUntilFree() } while gate.enter(on: thread) != .reduce
  }

  /// A chain is short, and sleeping is not: the thread looks again before it sleeps.
  private static var looks: Int { 100 }

  private func waitUntilFree() {
    for _ in 0..<Self.looks where gate.isFree { return }
    let parking: Parking? = delivery.lock.withLock { _ in
      guard gate.wait() else { return nil }
      let parking = Parking()
      unsafe parked.append(parking)
      return parking
    }
    parking?.wait()
  }

  @usableFromInline
  func wake() {
    var woken: [Parking] = []
    delivery.lock.withLock { _ in unsafe swap(&woken, &parked) }
    for parking in woken { parking.open() }
  }

  @usableFromInline
  func refuse() -> Never {
    misuse(
      "A Store was used inside its own reducer or 'commit'. Use the 'inout' state that the closure "
        + "gets, or do it in an effect, after the state can be read.")
  }
}
