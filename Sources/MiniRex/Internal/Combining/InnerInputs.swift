/// The active publishers of `flatMap`, for the counters of suspending subscribers.
final class InnerInputs: Sendable {
  private struct State {
    var tokens: [Int: WeakToken] = [:]
    var counters: [InFlightCounter] = []
  }

  private let state = Lock(State())

  /// Subscribes to a publisher, and attaches the counters.
  func connect(_ number: Int, _ subscribe: () -> Subscription) -> Subscription {
    let counters = state.withLock { $0.counters }
    let token = counters.isEmpty ? subscribe() : FlowConnection.connect(to: counters, subscribe)
    let later = state.withLock { state in
      state.tokens[number] = WeakToken(token)
      return state.counters
    }
    // A subscriber may have attached its counter during the subscription.
    for counter in later { token.host.attach(counter, of: token) }
    return token
  }

  func remove(_ number: Int) {
    _ = state.withLock { $0.tokens.removeValue(forKey: number) }
  }

  func attach(_ counter: InFlightCounter) {
    let tokens = state.withLock { state in
      state.counters.append(counter)
      return Array(state.tokens.values)
    }
    for case let token? in tokens.map(\.token) { token.host.attach(counter, of: token) }
  }
}
