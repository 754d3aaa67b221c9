/// The object that a subscription cancels.
protocol SubscriptionHost: AnyObject, Sendable {
  func isSubscribed(_ token: Subscription) -> Bool

  func end(_ token: Subscription)

  /// Cancels the subscription.
  ///
  /// The group waits until its callback is no longer running, unless the callback makes this call.
  func end(_ token: Subscription, for group: WaitGroup)

  /// Returns the subscription whose end is the end of this one, or `nil` if it is this one.
  func decisive(for token: Subscription) -> Subscription?

  /// Accesses the calls of `ended`, under the lock that guards them.
  ///
  /// A host without a decisive subscription implements it, unless only the library holds the
  /// subscription.
  func withEndCalls(
    of token: Subscription, _ body: (inout EndCalls, _ isActive: Bool) -> Void)

  /// Returns the queued and the dropped updates on the path to the callback.
  func bufferCounts(of token: Subscription) -> BufferCounts

  /// Collects the queues on the path to the callback, upstream first.
  func collectDrains(of token: Subscription, into drains: inout [Drain])

  /// Collects the sources in whose turns the callback runs.
  ///
  /// A dispatcher, a queue, and a merge have none.
  func collectSources(into sources: inout SharedSources)

  /// Attaches the counter of a suspending subscriber to each source and each queue on its path.
  ///
  /// Sources that cannot wait ignore it.
  func attach(_ counter: InFlightCounter, of token: Subscription)
}

extension SubscriptionHost {
  func end(_ token: Subscription, for group: WaitGroup) { end(token) }

  func decisive(for token: Subscription) -> Subscription? { nil }

  func withEndCalls(
    of token: Subscription, _ body: (inout EndCalls, _ isActive: Bool) -> Void
  ) {
    var calls = EndCalls()
    body(&calls, false)
  }

  func bufferCounts(of token: Subscription) -> BufferCounts { BufferCounts() }

  func collectDrains(of token: Subscription, into drains: inout [Drain]) {}

  func collectSources(into sources: inout SharedSources) {}

  func attach(_ counter: InFlightCounter, of token: Subscription) {}
}

/// The host of a subscription that has ended.
final class EndedHost: SubscriptionHost {
  func isSubscribed(_ token: Subscription) -> Bool { false }

  func end(_ token: Subscription) {}
}

/// Waits until one queue on the path of a subscription has run its updates.
typealias Drain = @Sendable () async -> Void
