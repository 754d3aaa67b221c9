/// The current input of a switching operator, and the combinations that depend on it.
final class SwitchedInputs: Sendable {
  private struct State {
    var latest: WeakToken?
    /// Inner combinations come first.
    var combinations: [WeakCombination] = []
    /// The counters of the suspending subscribers.
    var counters: [InFlightCounter] = []
  }

  private let state = Lock(State())

  /// Subscribes to the latest publisher, and attaches the counters of suspending subscribers.
  func connect(_ subscribe: () -> Subscription) -> Subscription {
    let counters = state.withLock { $0.counters }
    return counters.isEmpty ? subscribe() : FlowConnection.connect(to: counters, subscribe)
  }

  func attach(_ counter: InFlightCounter) {
    let latest = state.withLock { state in
      state.counters.append(counter)
      return state.latest
    }
    if let token = latest?.token { token.host.attach(counter, of: token) }
  }

  /// The operator calls this after it subscribes to its latest publisher.
  func follow(_ latest: Subscription) {
    let (combinations, counters) = state.withLock { state in
      state.latest = WeakToken(latest)
      return (state.combinations, state.counters)
    }
    // A subscriber may have attached its counter during the subscription.
    for counter in counters { latest.host.attach(counter, of: latest) }
    for weak in combinations { weak.combination?.installBarriers() }
  }

  /// Installs the barriers of the dependent combinations again.
  ///
  /// Called by a combination that has replaced its inputs.
  func haveMoved() {
    for weak in state.withLock({ $0.combinations }) { weak.combination?.installBarriers() }
  }

  func collectSources(into sources: inout SharedSources) {
    let latest = add(sources.combination)
    latest?.token?.host.collectSources(into: &sources)
  }

  /// Adds a combination that must know when the inputs move.
  ///
  /// - Returns: The latest input of a switching operator.
  @discardableResult
  func add(_ combination: Combination) -> WeakToken? {
    // The references are released after the lock.
    var known: [Combination] = []
    return state.withLock { state in
      known = state.combinations.compactMap(\.combination)
      if !known.contains(where: { $0 === combination }) {
        state.combinations = (known + [combination]).map(WeakCombination.init)
      }
      return state.latest
    }
  }
}

private final class WeakCombination: Sendable {
  weak let combination: Combination?

  init(_ combination: Combination) {
    self.combination = combination
  }
}
