internal import Synchronization

/// Lets a callback cancel its own subscription, even before `subscribe` has returned it.
@usableFromInline
package final class EarlyCancellation: Sendable {
  private struct State {
    weak var token: Subscription?
    var keptToken: Subscription?
  }

  private let state = Lock(State())
  /// Written under the lock, and read without it.
  private let hasCanceled = Atomic(false)

  @usableFromInline
  package init() {}

  package var isCanceled: Bool { hasCanceled.load(ordering: .acquiring) }

  /// - Parameter keeping: `true` to retain the subscription until the cancellation or the end of
  ///   the source.
  @usableFromInline
  package func attach(_ token: Subscription, keeping isKept: Bool = false) -> Subscription {
    // `Subscription.ended` is never released. A weak reference to it would leak its side table.
    if token === Subscription.ended { return token }
    let isTooLate = state.withLock { state in
      if isCanceled { return true }
      state.token = token
      if isKept { state.keptToken = token }
      return false
    }
    if isTooLate { token.invalidate() }
    return token
  }

  @usableFromInline
  package func cancel() {
    let token = state.withLock { state in
      hasCanceled.store(true, ordering: .releasing)
      // `token` holds a reference, so the subscription is not deallocated under the lock.
      defer { state.keptToken = nil }
      return state.token
    }
    token?.invalidate()
  }
}
