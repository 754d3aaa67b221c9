internal import Synchronization

/// The object that a subscription cancels.
///
/// Unchecked, because a class with subclasses cannot be checked, and its subclasses must repeat it.
/// It has no state. Each subclass states the guard of its state.
@usableFromInline
package class SubscriptionHost: @unchecked Sendable {
  @usableFromInline
  init() {}

  func isSubscribed(_ token: Subscription) -> Bool { false }

  func end(_ token: Subscription) {}

  /// Returns the subscription whose end is the end of this one, or `nil` if it is this one.
  func decisive(for token: Subscription) -> Subscription? { nil }

  /// Accesses the calls of `ended`, under the lock that guards them.
  ///
  /// A host without a decisive subscription overrides it.
  func withEndCalls(
    of token: Subscription, _ body: (inout EndCalls, _ isActive: Bool) -> Void
  ) {
    var calls = EndCalls()
    body(&calls, false)
  }

  /// Returns the queued and the dropped updates on the path to the callback.
  func bufferCounts(of token: Subscription) -> BufferCounts { BufferCounts() }

  /// Collects the queues on the path to the callback, upstream first.
  func collectDrains(of token: Subscription, into drains: inout [Drain]) {}

  /// Collects the sources in whose turns the callback runs.
  ///
  /// A dispatcher, a queue, and a merge have none.
  func collectSources(into sources: inout SharedSources) {}

  /// Attaches the counter of a suspending subscriber to each source and each queue on its path.
  ///
  /// Sources that cannot wait ignore it.
  func attach(_ counter: InFlightCounter, of token: Subscription) {}

  /// Cancels the subscription.
  ///
  /// The group waits until its callback is no longer running, unless the callback makes this call.
  func end(_ token: Subscription, for group: WaitGroup) {
    end(token)
  }
}

/// Waits until one queue on the path of a subscription has run its updates.
typealias Drain = @Sendable () async -> Void

/// A subscription that a closure cancels.
///
/// Unchecked: the thread that sets `hasEnded` takes `cancel`, and no other thread uses it.
final class ClosureSubscription: SubscriptionHost, @unchecked Sendable {
  private var cancel: OnceClosure?
  private let hasEnded = Atomic(false)
  private let endCalls = Lock(EndCalls())

  init(_ cancel: @escaping @Sendable () -> Void) {
    self.cancel = OnceClosure(cancel)
  }

  override func isSubscribed(_ token: Subscription) -> Bool {
    !hasEnded.load(ordering: .acquiring)
  }

  override func withEndCalls(
    of token: Subscription, _ body: (inout EndCalls, _ isActive: Bool) -> Void
  ) {
    endCalls.withLock { body(&$0, !hasEnded.load(ordering: .acquiring)) }
  }

  override func end(_ token: Subscription) {
    if hasEnded.exchange(true, ordering: .acquiringAndReleasing) { return }
    var cancel = cancel.take()
    ReleaseChain.run {
      cancel?()
      ReleaseChain.release(&cancel)
    } later: {
      let cancel = cancel.take()
      return { cancel?() }
    }
    for call in endCalls.withLock({ $0.takeAll() }) { call.resume() }
  }
}
