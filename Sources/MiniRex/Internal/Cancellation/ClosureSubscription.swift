internal import Synchronization

/// A subscription that a closure cancels.
final class ClosureSubscription: SubscriptionHost {
  private struct State {
    var cancel: OnceClosure?
    var endCalls = EndCalls()
  }

  private let state: Lock<State>
  /// Written under the lock, and read without it.
  private let hasEnded = Atomic(false)

  init(_ cancel: @escaping @Sendable () -> Void) {
    state = Lock(State(cancel: OnceClosure(cancel)))
  }

  func isSubscribed(_ token: Subscription) -> Bool { !hasEnded.load(ordering: .acquiring) }

  func withEndCalls(
    of token: Subscription, _ body: (inout EndCalls, _ isActive: Bool) -> Void
  ) {
    state.withLock { body(&$0.endCalls, $0.cancel != nil) }
  }

  func end(_ token: Subscription) {
    var (cancel, endCalls) = state.withLock { state in
      hasEnded.store(true, ordering: .releasing)
      return (state.cancel.take(), state.endCalls.takeAll())
    }
    if cancel == nil { return }
    ReleaseChain.run {
      cancel?()
      ReleaseChain.release(&cancel)
    } later: {
      let cancel = cancel.take()
      return { cancel?() }
    }
    for call in endCalls { call.resume() }
  }
}
