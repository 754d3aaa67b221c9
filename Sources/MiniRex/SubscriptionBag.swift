/// Keeps tokens, and ends them all when it goes.
///
/// ```swift
/// publisher.subscribe { print($0) }.store(in: bag)
/// ```
///
/// What has ended by itself is dropped on the way, so a bag that lives long does not grow.
public final class SubscriptionBag: Sendable {
  private struct State {
    var tokens: [Subscription] = []
    /// How many tokens make the next look for ended ones worth it.
    var limit = 16
    var hasEnded = false
    /// Waits for what the bag had, and for what it is still given meanwhile.
    var drain: Drain?
  }

  static let detached = SubscriptionBag()

  private let state = Lock(State())

  /// Makes an empty bag.
  public init() {}

  deinit {
    invalidate()
  }

  /// How many of its subscriptions have not ended; O(n).
  public var count: Int {
    let tokens = state.withLock { $0.tokens }
    return tokens.count { $0.isSubscribed }
  }

  /// Keeps the token unless it has ended, or ends it at once if the bag has; O(1) amortised.
  public func store(_ token: Subscription) {
    let isSubscribed = token.isSubscribed
    let (hasEnded, drain, candidates) = state.withLock { state in
      if state.hasEnded { return (true, state.drain, [Subscription]()) }
      if !isSubscribed { return (false, nil, []) }
      state.tokens.append(token)
      return (false, nil, state.tokens.count < state.limit ? [] : state.tokens)
    }
    if let drain { drain.end(token) } else if hasEnded { token.invalidate() }
    if !candidates.isEmpty { drop(candidates.filter { !$0.isSubscribed }) }
  }

  /// Ends all of its subscriptions, oldest first, and what is stored from now on.
  public func invalidate() {
    let drain = Drain.current
    let tokens = state.withLock { state in
      if !state.hasEnded { state.drain = drain }
      state.hasEnded = true
      let tokens = state.tokens
      state.tokens = []
      return tokens
    }
    for token in tokens { token.leave() }
  }

  /// The last references go when `ended` does, after the lock.
  private func drop(_ ended: [Subscription]) {
    let ended = Set(ended.map(ObjectIdentifier.init))
    state.withLock { state in
      state.tokens.removeAll { ended.contains(ObjectIdentifier($0)) }
      state.limit = max(16, 2 * state.tokens.count)
    }
  }
}
