/// A collection of subscriptions that cancels all of them when it is released.
///
/// ```swift
/// publisher.subscribe { print($0) }.store(in: bag)
/// ```
///
/// Ended subscriptions are removed from time to time, so the bag does not grow with them.
public final class SubscriptionBag: Sendable {
  private struct State {
    var tokens: [Subscription] = []
    /// The number of subscriptions at which the next removal of ended ones pays off.
    var limit = 16
    var hasEnded = false
    /// The wait group of the cancellation, for the stored subscriptions and for later ones.
    var group: WaitGroup?
  }

  static let detached = SubscriptionBag()

  private let state = Lock(State())

  /// Creates an empty bag.
  public init() {}

  deinit {
    invalidate()
  }

  /// The number of active subscriptions.
  ///
  /// O(n).
  public var count: Int {
    let tokens = state.withLock { $0.tokens }
    return tokens.count { $0.isSubscribed }
  }

  /// Stores a subscription, or cancels it if the bag is invalidated.
  ///
  /// Amortized O(1).
  ///
  /// An ended subscription is not stored.
  public func store(_ token: Subscription) {
    let isSubscribed = token.isSubscribed
    let (hasEnded, group, candidates) = state.withLock { state in
      if state.hasEnded { return (true, state.group, [Subscription]()) }
      if !isSubscribed { return (false, nil, []) }
      state.tokens.append(token)
      return (false, nil, state.tokens.count < state.limit ? [] : state.tokens)
    }
    if let group { group.end(token) } else if hasEnded { token.invalidate() }
    if !candidates.isEmpty { drop(candidates.filter { !$0.isSubscribed }) }
  }

  /// Cancels all stored subscriptions, oldest first, and every subscription that is stored later.
  public func invalidate() {
    let group = WaitGroup.current
    let tokens = state.withLock { state in
      if !state.hasEnded { state.group = group }
      state.hasEnded = true
      let tokens = state.tokens
      state.tokens = []
      return tokens
    }
    for token in tokens { token.leave() }
  }

  /// `ended` holds the last references until after the lock, because a release may run user code.
  private func drop(_ ended: [Subscription]) {
    let ended = Set(ended.map(ObjectIdentifier.init))
    state.withLock { state in
      state.tokens.removeAll { ended.contains(ObjectIdentifier($0)) }
      state.limit = max(16, 2 * state.tokens.count)
    }
  }
}
