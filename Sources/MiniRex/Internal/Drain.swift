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
    /// Those of its parts, too.
    var errands: [Errand] = []
    var waiters: [(resume: @Sendable () -> Void, asker: Errand?)] = []

    mutating func takeWaiters(
      where isReady: (Errand?) -> Bool = { _ in true }
    ) -> [@Sendable () -> Void] {
      let ready = waiters.filter { isReady($0.asker) }
      waiters.removeAll { isReady($0.asker) }
      return ready.map(\.resume)
    }
  }

  private static let ofThread = ThreadLocal<Drain>()

  /// The one that is in force on this thread.
  static var current: Drain? { ofThread.value }

  let awaitsWork: Bool
  /// The work that the drain is asked for by, which would wait for itself.
  private let asker: Errand?
  /// What waits for it, and is in force again after it.
  private let whole: Drain?
  private let state = Lock(State())

  init(
    awaitingWork awaitsWork: Bool = true, asker: Errand? = Errand.current,
    partOf whole: Drain? = nil
  ) {
    self.awaitsWork = awaitsWork
    self.asker = asker
    self.whole = whole
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
      state.errands = []
      return state.takeWaiters()
    }
    for resume in waiters { resume() }
  }

  /// - Returns: False if the drain must not wait for that work, since it is asked for by it.
  func expect(_ errand: Errand) -> Bool {
    if isAsked(by: errand) { return false }
    expect()
    var drain: Drain? = self
    while let current = drain {
      // Whoever is asked by that work, and waits already, would wait for itself.
      let asked = current.state.withLock { state in
        state.errands.append(errand)
        return state.takeWaiters { $0?.isPart(of: errand) ?? false }
      }
      for resume in asked { resume() }
      drain = current.whole
    }
    return true
  }

  /// Waits for what another one waits for, but not for the work that asks.
  func await(_ other: Drain) {
    if isPart(of: other) { return }
    let errands = other.state.withLock { $0.errands }
    if errands.contains(where: isAsked) {
      for errand in errands { errand.isAwaited(by: self) }
      return
    }
    expect()
    if !other.notify(asker: asker, { self.comeBack() }) { comeBack() }
  }

  private func isAsked(by errand: Errand) -> Bool {
    asker?.isPart(of: errand) ?? false
  }

  private func isPart(of other: Drain) -> Bool {
    var drain: Drain? = self
    while let current = drain {
      if current === other { return true }
      drain = current.whole
    }
    return false
  }

  /// - Parameter asker: Work that the call does not wait for.
  /// - Returns: False if there is nothing to wait for; then `resume` is not called.
  func notify(asker: Errand? = nil, _ resume: @escaping @Sendable () -> Void) -> Bool {
    state.withLock { state in
      if state.awaited == 0 { return false }
      state.waiters.append((resume, asker))
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

extension Drain {
  /// Those of `invalidateAndDrain()`, by their tokens: what was left by the release of a callback is
  /// known to them only, so whoever drains the same token meanwhile waits for them.
  private static let ofTokens = Lock<[ObjectIdentifier: Drain]>([:])

  /// Ends the token, and waits, also for one that has begun before and is not over.
  static func run(on token: Subscription) async {
    let drain = Drain()
    let id = ObjectIdentifier(token)
    let earlier = ofTokens.withLock { drains in
      let earlier = drains[id]
      if earlier == nil { drains[id] = drain }
      return earlier
    }
    drain.end(token)
    if let earlier { drain.await(earlier) }
    await drain.wait()
    if earlier == nil { ofTokens.withLock { $0[id] = nil } }
  }
}

extension Subscription {
  /// Ends the subscription; a drain that is in force on this thread waits for what that leaves.
  func leave() {
    if let drain = Drain.current { drain.end(self) } else { invalidate() }
  }
}
