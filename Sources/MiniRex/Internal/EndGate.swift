/// Calls `onEnd`, unless the subscription is ended from this side.
final class EndGate: Upstream, @unchecked Sendable {
  private struct State {
    var onEnd: (@Sendable () -> Void)?
    var input: Subscription?
  }

  private let state: Lock<State>

  init(_ onEnd: @escaping @Sendable () -> Void) {
    state = Lock(State(onEnd: onEnd))
  }

  func subscription(to input: Subscription) -> Subscription {
    state.withLock { $0.input = input }
    return Subscription(self)
  }

  func sourceHasEnded() {
    let onEnd = state.withLock { $0.onEnd.take() }
    onEnd?()
  }

  override func isSubscribed(_ token: Subscription) -> Bool {
    state.withLock { $0.input }?.isSubscribed ?? false
  }

  override func end(_ token: Subscription) {
    disarm()?.invalidate()
  }

  override func end(
    _ token: Subscription, notifying resume: @escaping @Sendable () -> Void
  ) -> Bool {
    guard let input = disarm() else { return false }
    return input.upstream.end(input, notifying: resume)
  }

  private func disarm() -> Subscription? {
    // What `onEnd` has captured is released when this returns, after the lock.
    let (_, input) = state.withLock { ($0.onEnd.take(), $0.input) }
    return input
  }
}
