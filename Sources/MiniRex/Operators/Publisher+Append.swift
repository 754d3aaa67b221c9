extension Publisher where Kind: StreamKind {
  /// Continues with another publisher after this publisher finishes.
  ///
  /// ```swift
  /// let lines = history.append(live)
  /// ```
  ///
  /// ![append continues with the second publisher when the first finishes](append.svg)
  ///
  /// The thread that finishes this publisher subscribes to the next publisher. Earlier updates of
  /// the next publisher are missed, and its work does not start earlier. A published value then
  /// emits its current value. For a task, use `append(task.broadcaster)`. The result is a
  /// broadcaster, even for two published values. It finishes with the next publisher. If this
  /// publisher never finishes, the next one is never subscribed. Each subscriber holds one
  /// subscription at a time, and nothing is queued.
  public func append<NextKind: StreamKind>(
    _ next: Publisher<Update, NextKind>
  ) -> Broadcaster<Update> {
    let pair = PublisherPair(self, next)
    return Broadcaster(
      lineage: .ofOperation(on: lineages + next.lineages), value: .none
    ) { receive in
      let late = DeferredSubscription(of: pair.second, receive)
      let first = pair.first.follow(
        receive,
        onEnd: {
          // The next publisher may emit for a long time, so pending releases must not wait for it.
          ReleaseChain.start { late.start() }
        })
      return Subscription(Succession(first, then: late.subscription))
    }
  }
}

/// Two publishers, each of which may own the next publisher of a long chain.
///
/// Unchecked: constant until `deinit`.
private final class PublisherPair<First: Sendable, Second: Sendable>: @unchecked Sendable {
  private var pair: (First, Second)?

  init(_ first: First, _ second: Second) { pair = (first, second) }

  deinit { ReleaseChain.release(&pair) }

  var first: First { unsafe pair.unsafelyUnwrapped.0 }
  var second: Second { unsafe pair.unsafelyUnwrapped.1 }
}

/// A host of two subscriptions in sequence, canceled together.
///
/// No gate separates them from the callback, so a wait group enters both. `GatedInputs` waits for
/// its gate only. Unchecked like every `SubscriptionHost`, and constant.
final class Succession: SubscriptionHost, @unchecked Sendable {
  private let first: Subscription
  /// A deferred subscription, which starts when `first` finishes.
  private let next: Subscription

  init(_ first: Subscription, then next: Subscription) {
    self.first = first
    self.next = next
  }

  override func isSubscribed(_ token: Subscription) -> Bool { next.isSubscribed }

  override func decisive(for token: Subscription) -> Subscription? { next }

  override func bufferCounts(of token: Subscription) -> BufferCounts {
    first.bufferCounts + next.bufferCounts
  }

  override func collectDrains(of token: Subscription, into drains: inout [Drain]) {
    first.host.collectDrains(of: first, into: &drains)
    next.host.collectDrains(of: next, into: &drains)
  }

  override func attach(_ counter: InFlightCounter, of token: Subscription) {
    first.host.attach(counter, of: first)
    next.host.attach(counter, of: next)
  }

  override func end(_ token: Subscription) {
    next.invalidate()
    first.invalidate()
  }

  override func end(_ token: Subscription, for group: WaitGroup) {
    group.end(next)
    group.end(first)
  }
}
