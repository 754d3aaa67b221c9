internal import Synchronization

/// Lets a callback end its own subscription, even before `subscribe` has returned the token.
@usableFromInline
package final class Fuse: Sendable {
  private struct State {
    weak var token: Subscription?
    var keptToken: Subscription?
  }

  private let state = Lock(State())
  /// Changed under the lock, and read by whoever likes.
  private let hasBlown = Atomic(false)

  @usableFromInline
  package init() {}

  package var isBlown: Bool { hasBlown.load(ordering: .acquiring) }

  /// - Parameter keeping: True to keep the token alive until the fuse blows or the source ends.
  @usableFromInline
  package func attach(_ token: Subscription, keeping isKept: Bool = false) -> Subscription {
    // The one token that is never released would keep what a weak reference needs for ever.
    if token === Subscription.ended { return token }
    let isTooLate = state.withLock { state in
      if isBlown { return true }
      state.token = token
      if isKept { state.keptToken = token }
      return false
    }
    if isTooLate { token.invalidate() }
    return token
  }

  @usableFromInline
  package func blow() {
    let token = state.withLock { state in
      hasBlown.store(true, ordering: .releasing)
      // Once `token` has it, this is not the last reference, which would go under the lock.
      defer { state.keptToken = nil }
      return state.token
    }
    token?.invalidate()
  }
}
