/// Lets a callback end its own subscription, even before `subscribe` has returned the token.
@usableFromInline
package final class Fuse: Sendable {
  private struct State {
    var isBlown = false
    weak var token: Subscription?
    var keptToken: Subscription?
  }

  private let state = Lock(State())

  @usableFromInline
  package init() {}

  /// - Parameter keeping: True to keep the token alive until the fuse blows or the source ends.
  @usableFromInline
  package func attach(_ token: Subscription, keeping isKept: Bool = false) -> Subscription {
    // The one token that is never released would keep what a weak reference needs for ever.
    if token === Subscription.ended { return token }
    let isBlown = state.withLock { state in
      if state.isBlown { return true }
      state.token = token
      if isKept { state.keptToken = token }
      return false
    }
    if isBlown { token.invalidate() }
    return token
  }

  @usableFromInline
  package func blow() {
    let token = state.withLock { state in
      state.isBlown = true
      // Once `token` has it, this is not the last reference, which would go under the lock.
      defer { state.keptToken = nil }
      return state.token
    }
    token?.invalidate()
  }
}
