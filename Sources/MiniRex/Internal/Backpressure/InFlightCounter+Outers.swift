internal import Synchronization

/// Counters further upstream: of the outer publisher of `flatMap`, and of the upstream of a shared
/// subscription.
extension InFlightCounter {
  func makeOuter() -> InFlightCounter {
    let outer = InFlightCounter(outerOf: self)
    add(outer)
    outer.check()
    return outer
  }

  /// Adds a counter that decides again after each change of this one.
  private func add(_ outer: InFlightCounter) {
    var known: [InFlightCounter] = []
    state.withLock { known = $0.add(outer) }
    hasOuters.store(true, ordering: .sequentiallyConsistent)
    withExtendedLifetime(known) {}
  }

  /// Adds the relay of a valve to which this counter is attached.
  func joinRelay(_ relay: InFlightCounter) {
    add(relay)
    relay.check()
  }

  var outers: [InFlightCounter] {
    state.withLock { $0.outers.compactMap(\.counter) }
  }

  // MARK: Relays

  /// Returns the counters of a shared subscription whose holds this counter passes on, or `nil` if it
  /// belongs to none.
  ///
  /// They are full, or the updates before the shared subscription fill them.
  ///
  /// - Parameter count: The updates on their way to this place.
  func relayedHolders(adding count: Int) -> [InFlightCounter]? {
    guard root.isRelay else { return nil }
    let most = total + movingTotal + count
    return root.relayed?.counters.filter {
      $0.hold(after: .full, adding: most) != .open
    } ?? []
  }

  /// `true` if the updates of this relay reach the valve.
  func isRelayed(to valve: SendValve) -> Bool {
    guard let relayed else { return false }
    return relayed === valve
      || relayed.counters.contains { $0.root !== self && $0.root.isRelayed(to: valve) }
  }

  /// The counters of the subscribers behind it.
  var subscribers: [InFlightCounter] {
    isRelay ? relayed?.counters.flatMap(\.subscribers) ?? [] : [self]
  }
}

extension InFlightCounter.State {
  /// Adds a counter further upstream, once.
  ///
  /// - Returns: The known counters, which must not be released under the lock.
  fileprivate mutating func add(_ outer: InFlightCounter) -> [InFlightCounter] {
    let known = outers.compactMap(\.counter)
    if known.contains(where: { $0 === outer }) { return known }
    outers = (known + [outer]).map(WeakCounter.init)
    return known
  }
}

final class WeakCounter: Sendable {
  weak let counter: InFlightCounter?

  init(_ counter: InFlightCounter) {
    self.counter = counter
  }
}
