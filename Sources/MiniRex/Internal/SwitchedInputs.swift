/// What an operator that switches follows at the time, and the combinations that want to know.
final class SwitchedInputs: Sendable {
  private struct State {
    var latest: WeakToken?
    /// The inner ones come first.
    var combinations: [WeakCombination] = []
  }

  private let state = Lock(State())

  /// Called when the operator has subscribed to the publisher that came last.
  func follow(_ latest: Subscription) {
    let combinations = state.withLock { state in
      state.latest = WeakToken(latest)
      return state.combinations
    }
    for weak in combinations { weak.combination?.standLast() }
  }

  func tellOrigins(to origins: inout Origins) {
    let combination = origins.combination
    // They are released after the lock.
    var known: [Combination] = []
    let latest = state.withLock { state in
      known = state.combinations.compactMap(\.combination)
      if !known.contains(where: { $0 === combination }) {
        state.combinations = (known + [combination]).map(WeakCombination.init)
      }
      return state.latest
    }
    latest?.token?.host.tellOrigins(to: &origins)
  }
}

private final class WeakCombination: Sendable {
  weak let combination: Combination?

  init(_ combination: Combination) {
    self.combination = combination
  }
}
