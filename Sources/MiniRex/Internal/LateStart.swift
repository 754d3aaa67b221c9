internal import Synchronization

/// A subscription that is made later, somewhere else: in a job on a queue.
///
/// The job keeps only this: ending the subscription before it runs releases the publisher and the
/// callback, even when it never runs. Unchecked like every `SubscriptionHost`: its state is in a
/// `Lock`.
package final class LateStart<Update: Sendable, Kind: PublisherKind>: SubscriptionHost,
  @unchecked Sendable
{
  /// - waiting: the job has not run. Next: starting, or over.
  /// - starting: the job subscribes. Next: started, or over.
  /// - started: Next: over.
  /// - over: ended from either side.
  private enum Phase {
    case waiting(Publisher<Update, Kind>, @Sendable (Update) -> Void)
    case starting
    case started(Subscription)
    /// With those who wait for the job to leave what it has just subscribed to.
    case over([Drain])
  }

  private let phase: Lock<Phase>
  private let context: WatchContext?
  /// Closes the way to the callback while the job subscribes, when there is no token to end yet.
  private let isOver = Atomic(false)

  package init(
    of publisher: Publisher<Update, Kind>, _ receive: @escaping @Sendable (Update) -> Void
  ) {
    phase = Lock(.waiting(publisher, receive))
    context = publisher.contextOfInner
  }

  package var subscription: Subscription { Subscription(self) }

  /// The job.
  package func start() {
    let phase = phase.withLock { phase in
      let old = phase
      if case .waiting = old { phase = .starting }
      return old
    }
    guard case .waiting(let publisher, let receive) = phase else { return }
    let sentinel = Sentinel { self.end() }
    let input = publisher.follow(in: context) { update in
      withExtendedLifetime(sentinel) {
        if !self.isOver.load(ordering: .acquiring) { receive(update) }
      }
    }
    let drains: [Drain]? = self.phase.withLock { phase in
      guard case .over(let drains) = phase else {
        phase = .started(input)
        return nil
      }
      phase = .over([])
      return drains
    }
    guard let drains else { return }
    Drain.collect(drains) { input.invalidate() }
    for drain in drains { drain.comeBack() }
  }

  /// - Returns: What has to be ended now.
  @discardableResult
  private func end(for drain: Drain? = nil) -> Subscription? {
    isOver.store(true, ordering: .releasing)
    // What waited is released when this returns, after the lock.
    let old = phase.withLock { phase in
      let old = phase
      switch phase {
      case .starting:
        drain?.expect()
        phase = .over(drain.map { [$0] } ?? [])
      case .waiting, .started:
        phase = .over([])
      case .over:
        break
      }
      return old
    }
    guard case .started(let input) = old else { return nil }
    return input
  }

  override func isSubscribed(_ token: Subscription) -> Bool {
    !isOver.load(ordering: .acquiring)
  }

  override func end(_ token: Subscription) {
    end()?.invalidate()
  }

  override func end(_ token: Subscription, for drain: Drain) {
    if let input = end(for: drain.awaitsWork ? drain : nil) { drain.end(input) }
  }
}
