/// What somebody who ends a subscription waits for: turns in progress, and work that has to come
/// back.
///
/// A drain that awaits work is in force on the thread while it ends something, because what a token
/// ends may be closures that know nothing of each other: tokens of the user's, bags, what a
/// callback has captured. Work that is cancelled meanwhile is part of the drain.
package final class Drain: Sendable {
  private struct State {
    /// How many turns and errands have not come back, and how many calls of `collect` have not.
    var awaited = 0
    var errands: [Errand] = []
    var waiters: [@Sendable () -> Void] = []
  }

  private static let ofThread = ThreadLocal<Drain>()

  /// The one that is in force on this thread.
  static var current: Drain? { ofThread.value }

  let awaitsWork: Bool
  /// The work that the drain is asked for by, which would wait for itself.
  private let asker: Errand?
  private let state = Lock(State())

  init(awaitingWork awaitsWork: Bool = true, asker: Errand? = Errand.current) {
    self.awaitsWork = awaitsWork
    self.asker = asker
  }

  func end(_ token: Subscription) {
    if awaitsWork {
      collect { token.host.end(token, for: self) }
    } else {
      token.host.end(token, for: self)
    }
  }

  /// Ends what leads to a token that is ended.
  func endInput(_ input: Subscription) {
    if awaitsWork { end(input) } else { input.invalidate() }
  }

  /// Runs the body, and makes what it leaves on this thread part of the drain.
  func collect(_ body: () -> Void) {
    let outer = Drain.ofThread.value
    expect()
    Drain.ofThread.value = self
    body()
    // The thread keeps neither of them alive.
    withExtendedLifetime(outer) { Drain.ofThread.value = outer }
    comeBack()
  }

  /// Runs the body for several drains, each of which waits for what it leaves.
  static func collect(_ drains: [Drain], _ body: () -> Void) {
    guard let first = drains.first else { return body() }
    if drains.count == 1 { return first.collect(body) }
    let shared = Drain(asker: nil)
    shared.collect(body)
    for drain in drains { drain.await(shared) }
  }

  /// One more has to come back.
  func expect() {
    state.withLock { $0.awaited += 1 }
  }

  func comeBack() {
    let waiters = state.withLock { state -> [@Sendable () -> Void] in
      state.awaited -= 1
      if state.awaited > 0 { return [] }
      defer {
        state.errands = []
        state.waiters = []
      }
      return state.waiters
    }
    for resume in waiters { resume() }
  }

  /// - Returns: False if the drain must not wait for that work, since it is asked for by it.
  func expect(_ errand: Errand) -> Bool {
    if asker?.isPart(of: errand) == true { return false }
    state.withLock { state in
      state.awaited += 1
      state.errands.append(errand)
    }
    return true
  }

  /// Waits for what another one waits for, unless that is the work that asks.
  func await(_ other: Drain) {
    if other === self || other.errands.contains(where: { asker?.isPart(of: $0) == true }) { return }
    expect()
    if !other.notify({ self.comeBack() }) { comeBack() }
  }

  private var errands: [Errand] { state.withLock { $0.errands } }

  /// - Returns: False if there is nothing to wait for; then `resume` is not called.
  func notify(_ resume: @escaping @Sendable () -> Void) -> Bool {
    state.withLock { state in
      if state.awaited == 0 { return false }
      state.waiters.append(resume)
      return true
    }
  }

  private var isOver: Bool { state.withLock { $0.awaited == 0 } }

  @available(*, noasync)
  func wait() {
    if isOver { return }
    let parking = Parking()
    if notify({ parking.open() }) { parking.wait() }
  }

  func wait() async {
    if isOver { return }
    unsafe await withUnsafeContinuation { continuation in
      let waiter = unsafe Waiter(continuation)
      if !notify({ waiter.resume() }) { waiter.resume() }
    }
  }
}

extension Subscription {
  /// Ends the subscription; a drain that is in force on this thread waits for what that leaves.
  func leave() {
    if let drain = Drain.current { drain.end(self) } else { invalidate() }
  }
}
