internal import Synchronization

/// A subscription that is made later: in a job on a queue, or when another one has ended.
///
/// The job keeps only this: ending the subscription before it runs releases the publisher and the
/// callback, even when it never runs. Unchecked like every `SubscriptionHost`: its state is in a
/// `Lock`.
package final class LateStart<Update: Sendable, Kind: PublisherKind>: SubscriptionHost,
  @unchecked Sendable
{
  /// - waiting: the job has not run. Next: starting, or over.
  /// - starting: the job subscribes. Next: started, or abandoned.
  /// - started: Next: over.
  /// - abandoned: it is over, but the job still subscribes. Next: over.
  /// - over: ended from either side.
  private enum Phase {
    case waiting(Publisher<Update, Kind>, @Sendable (Update) -> Void)
    case starting
    case started(Subscription)
    /// With those who wait for the job to leave what it has just subscribed to.
    case abandoned([Drain])
    /// With what it had subscribed to, for whoever waits later.
    case over(Subscription?)
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
      guard case .abandoned(let drains) = phase else {
        phase = .started(input)
        return nil
      }
      phase = .over(input)
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
    var waiting: Phase?
    let input: Subscription? = phase.withLock { phase in
      switch phase {
      case .waiting:
        waiting = phase
        phase = .over(nil)
        return nil
      case .starting:
        drain?.expect()
        phase = .abandoned(drain.map { [$0] } ?? [])
        return nil
      case .started(let input):
        phase = .over(input)
        return input
      case .abandoned(let drains):
        drain?.expect()
        if let drain { phase = .abandoned(drains + [drain]) }
        return nil
      case .over(let input):
        return input
      }
    }
    ReleaseChain.release(&waiting)
    return input
  }

  override func isSubscribed(_ token: Subscription) -> Bool {
    !isOver.load(ordering: .acquiring)
  }

  override func bufferCounts(of token: Subscription) -> BufferCounts {
    guard case .started(let input) = phase.withLock({ $0 }) else { return BufferCounts() }
    return input.bufferCounts
  }

  override func end(_ token: Subscription) {
    end()?.invalidate()
  }

  override func end(_ token: Subscription, for drain: Drain) {
    if let input = end(for: drain.awaitsWork ? drain : nil) { drain.end(input) }
  }
}
