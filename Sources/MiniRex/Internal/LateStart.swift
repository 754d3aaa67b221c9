internal import Synchronization

/// A subscription that is made later, somewhere else: in a job on a queue.
///
/// The job keeps only this: ending the subscription before it runs releases the publisher and the
/// callback, also when it never runs. Unchecked like every `SubscriptionHost`: its state is in a `Lock`.
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
    case over
  }

  private let phase: Lock<Phase>
  /// Closes the way to the callback while the job subscribes, when there is no token to end yet.
  private let isOver = Atomic(false)

  package init(
    of publisher: Publisher<Update, Kind>, _ receive: @escaping @Sendable (Update) -> Void
  ) {
    phase = Lock(.waiting(publisher, receive))
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
    let input = publisher.follow { update in
      withExtendedLifetime(sentinel) {
        if !self.isOver.load(ordering: .acquiring) { receive(update) }
      }
    }
    let isStarted = self.phase.withLock { phase in
      guard case .starting = phase else { return false }
      phase = .started(input)
      return true
    }
    if !isStarted { input.invalidate() }
  }

  @discardableResult
  private func end() -> Subscription? {
    isOver.store(true, ordering: .releasing)
    // What waited is released when this returns, after the lock.
    let old = phase.withLock { phase in
      let old = phase
      phase = .over
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

  override func end(
    _ token: Subscription, notifying resume: @escaping @Sendable () -> Void
  ) -> Bool {
    guard let input = end() else { return false }
    return input.host.end(input, notifying: resume)
  }
}
