/// A subscription of a reader whose peer sends a number of updates ahead, as a NATS server does.
///
/// Such a reader cannot wait at a valve. It permits its peer further updates once each suspending
/// subscriber has room for all of them.
package final class ReadAhead: SubscriptionHost {
  private struct State: Sendable {
    var counters: [InFlightCounter] = []
    /// Runs once there is room for the count.
    var waiting: (count: Int, body: OnceClosure)?
    var isSearching = false
    /// Cancels the reader.
    var reading: Subscription?
  }

  private let state = Lock(State())

  package init() {}

  /// Returns the subscription of the reader.
  package func subscription(_ cancel: @escaping @Sendable () -> Void) -> Subscription {
    let reading = Subscription(cancel)
    state.withLock { $0.reading = reading }
    return Subscription(self)
  }

  /// Runs `body` after the subscription in progress on this thread, whose suspending subscriber is
  /// then attached, or immediately.
  package static func afterConnection(_ body: @escaping () -> Void) {
    FlowConnection.afterwards(body)
  }

  /// `true` once there has been a suspending subscriber.
  package var isFollowed: Bool { state.withLock { !$0.counters.isEmpty } }

  /// The smallest limit of the suspending subscribers, or `nil` without one.
  package var limit: Int? { subscribers.map(\.limit.count).min() }

  private var subscribers: [InFlightCounter] {
    state.withLock { $0.counters }.flatMap(\.subscribers)
  }

  /// Runs `body` once each suspending subscriber has room for `count` more updates, or has none in
  /// flight.
  ///
  /// It replaces a body that is still waiting. Called outside locks, which also applies to `body`.
  package func whenRoom(for count: Int, _ body: @escaping @Sendable () -> Void) {
    var old: OnceClosure?
    let isFirst = state.withLock { state in
      old = state.waiting?.body
      state.waiting = (count, OnceClosure(body))
      defer { state.isSearching = true }
      return !state.isSearching
    }
    withExtendedLifetime(old) {}
    if isFirst { search() }
  }

  /// Waits for the first full subscriber, and runs the body if all have room.
  private func search() {
    while true {
      guard let waiting = state.withLock({ $0.waiting }) else { return }
      if let full = subscribers.first(where: { !$0.hasRoom(for: waiting.count) }) {
        full.whenRoom(for: waiting.count) { [weak self] in self?.search() }
        // The full subscriber may have been canceled before it knew this reader.
        if !subscribers.contains(where: { $0 === full }) { full.readers.resume() }
        return
      }
      let body = state.withLock { state -> OnceClosure? in
        guard let newest = state.waiting, newest.count <= waiting.count else { return nil }
        defer { (state.waiting, state.isSearching) = (nil, false) }
        return newest.body
      }
      if let body { return body() }
    }
  }

  func isSubscribed(_ token: Subscription) -> Bool {
    state.withLock { $0.reading }?.isSubscribed ?? false
  }

  func decisive(for token: Subscription) -> Subscription? { state.withLock { $0.reading } }

  func attach(_ counter: InFlightCounter, of token: Subscription) {
    state.withLock { $0.counters.append(counter) }
  }

  func end(_ token: Subscription) {
    take()?.invalidate()
  }

  func end(_ token: Subscription, for group: WaitGroup) {
    if let reading = take() { group.end(reading) }
  }

  /// Returns the subscription to cancel, and releases the counters and the body.
  private func take() -> Subscription? {
    var old: State?
    let reading = state.withLock { state in
      defer { state = State() }
      old = state
      return state.reading
    }
    withExtendedLifetime(old) {}
    return reading
  }
}
