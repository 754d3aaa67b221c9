internal import Synchronization

/// A subscription that starts later, in a job on a queue.
///
/// The job retains only this object. Canceling the subscription earlier releases the publisher and
/// the callback, even if the job never runs.
package final class DeferredSubscription<Update: Sendable, Kind: PublisherKind>: SubscriptionHost {
  /// - waiting: the job has not run. → starting, over
  /// - starting: the job subscribes. → started, abandoned
  /// - started → over
  /// - abandoned: canceled while the job subscribes. → over
  /// - over: ended by either side.
  private enum Phase {
    case waiting(Publisher<Update, Kind>, @Sendable (Update) -> Void)
    case starting
    case started(Subscription)
    /// The groups wait until the job has canceled its new subscription.
    case abandoned([WaitGroup])
    /// The subscription has ended, and later waits need it.
    case over(Subscription?)
  }

  private let phase: Lock<Phase>
  /// The counters of the suspending subscribers.
  private let counters = Lock<[InFlightCounter]>([])
  private let context: WatchContext?
  /// Blocks the callback while the job subscribes, because no subscription exists yet that could be
  /// canceled.
  private let isOver = Atomic(false)
  private let endCalls = Lock(EndCalls())

  package init(
    of publisher: Publisher<Update, Kind>, _ receive: @escaping @Sendable (Update) -> Void
  ) {
    phase = Lock(.waiting(publisher, receive))
    context = publisher.contextOfInner
  }

  package var subscription: Subscription { Subscription(self) }

  /// Subscribes, unless the subscription was canceled before.
  ///
  /// Called by the job.
  package func start() {
    let phase = phase.withLock { phase in
      let old = phase
      if case .waiting = old { phase = .starting }
      return old
    }
    guard case .waiting(let publisher, let receive) = phase else { return }
    let sentinel = Sentinel { self.end() }
    let known = counters.withLock { $0 }
    let input = FlowConnection.connect(to: known) {
      publisher.follow(in: context) { update in
        withExtendedLifetime(sentinel) {
          if !self.isOver.load(ordering: .acquiring) { receive(update) }
        }
      }
    }
    let groups: [WaitGroup]? = self.phase.withLock { phase in
      guard case .abandoned(let groups) = phase else {
        phase = .started(input)
        return nil
      }
      phase = .over(input)
      return groups
    }
    // A subscriber may have attached its counter during the subscription.
    for counter in counters.withLock({ $0.dropFirst(known.count) }) {
      input.host.attach(counter, of: input)
    }
    guard let groups else { return }
    WaitGroup.capture(groups) { input.invalidate() }
    for group in groups { group.leave() }
  }

  /// Ends this subscription, and resumes the calls that wait for its end.
  ///
  /// - Returns: The subscription that the caller cancels.
  @discardableResult
  private func end(for group: WaitGroup? = nil) -> Subscription? {
    isOver.store(true, ordering: .releasing)
    var waiting: Phase?
    let input: Subscription? = phase.withLock { phase in
      switch phase {
      case .waiting:
        waiting = phase
        phase = .over(nil)
        return nil
      case .starting:
        group?.enter()
        phase = .abandoned(group.map { [$0] } ?? [])
        return nil
      case .started(let input):
        phase = .over(input)
        return input
      case .abandoned(let groups):
        group?.enter()
        if let group { phase = .abandoned(groups + [group]) }
        return nil
      case .over(let input):
        return input
      }
    }
    ReleaseChain.release(&waiting)
    for call in endCalls.withLock({ $0.takeAll() }) { call.resume() }
    return input
  }

  func isSubscribed(_ token: Subscription) -> Bool {
    !isOver.load(ordering: .acquiring)
  }

  func withEndCalls(
    of token: Subscription, _ body: (inout EndCalls, _ isActive: Bool) -> Void
  ) {
    endCalls.withLock { body(&$0, !isOver.load(ordering: .acquiring)) }
  }

  func bufferCounts(of token: Subscription) -> BufferCounts {
    guard case .started(let input) = phase.withLock({ $0 }) else { return BufferCounts() }
    return input.bufferCounts
  }

  func collectDrains(of token: Subscription, into drains: inout [Drain]) {
    guard case .started(let input) = phase.withLock({ $0 }) else { return }
    input.host.collectDrains(of: input, into: &drains)
  }

  func attach(_ counter: InFlightCounter, of token: Subscription) {
    counters.withLock { $0.append(counter) }
    if case .started(let input) = phase.withLock({ $0 }) { input.host.attach(counter, of: input) }
  }

  func end(_ token: Subscription) {
    end()?.invalidate()
  }

  func end(_ token: Subscription, for group: WaitGroup) {
    if let input = end(for: group.awaitsWork ? group : nil) { group.end(input) }
  }
}
