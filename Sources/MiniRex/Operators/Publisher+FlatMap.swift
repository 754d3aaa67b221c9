extension Publisher where Kind: StreamKind {
  /// Transforms each update to a publisher, and emits the updates of at most `limit` of them
  /// concurrently.
  ///
  /// ```swift
  /// let pictures = addresses.publisher.flatMap(limit: 4) { address in load(address) }
  /// ```
  ///
  /// ![flatMap runs a limited number of publishers, and starts the next when one
  /// finishes](flatMap.svg)
  ///
  /// The publishers may be of any kind. With a limit of 1, each starts after the previous one has
  /// finished, in order. Callbacks are serialized, and run where the publishers run them. It
  /// finishes after this publisher and all inner publishers. Each subscriber holds one subscription
  /// per active publisher. Updates beyond the limit are queued in order, without a bound: see
  /// ``Subscription/pendingUpdates``. Canceling the subscription releases them.
  ///
  /// - Parameters:
  ///   - limit: The maximum number of active publishers, or `.max`. Traps if less than 1.
  ///   - transform: A closure that creates the publisher of an update. It runs when a slot is free.
  public func flatMap<Inner: Sendable, InnerKind: PublisherKind>(
    limit: Int, _ transform: @escaping @Sendable (Update) -> Publisher<Inner, InnerKind>
  ) -> Broadcaster<Inner> {
    if limit < 1 { misuse("'flatMap' requires a limit of 1 or more, not \(limit).") }
    return Broadcaster<Inner>(trusting: self) { receive in
      let delivery = Delivery<FlatMapEvent<Update, Inner>>(isOpen: true)
      let backlog = Backlog<Update>()
      let followed = SerialState(Followed())
      let inner = InnerInputs()
      let context = contextOfInner
      // The delivery queues updates and ends of an inner publisher during its subscription. A chain
      // of publishers that finish immediately therefore uses constant stack space.
      @Sendable func begin(_ update: Update) {
        let publisher = transform(update)
        // `transform` may have canceled the subscription.
        if delivery.subscriberCount == 0 { return }
        let number = unsafe followed.value.nextNumber()
        let sentinel = Sentinel { delivery.relayStep(.innerEnd(of: number)) }
        let token = inner.connect(number) {
          publisher.follow(in: context) { update in
            withExtendedLifetime(sentinel) { delivery.relay(.inner(update)) }
          }
        }
        unsafe followed.value.tokens[number] = token
      }
      let gate = delivery.subscribe { event in
        switch event {
        case .outer(let update):
          if unsafe followed.value.tokens.count < limit {
            begin(update)
          } else {
            backlog.append(update)
          }
        case .inner(let update):
          receive(update)
          return
        case .innerEnd(let number):
          unsafe followed.value.tokens.removeValue(forKey: number)?.invalidate()
          inner.remove(number)
          backlog.passFirst(to: begin)
        case .outerEnd:
          unsafe followed.value.outerHasEnded = true
          backlog.endInput()
        }
        if unsafe followed.value.areOver { delivery.end() }
      }
      let sentinel = Sentinel { delivery.relayStep(.outerEnd) }
      let input = follow { update in
        withExtendedLifetime(sentinel) { delivery.relayStep(.outer(update)) }
      }
      return Subscription(
        GatedInputs(gate: gate, inputs: [input, Subscription(backlog)], inner: inner))
    }
  }
}

private enum FlatMapEvent<Outer: Sendable, Inner: Sendable>: Sendable {
  case outer(Outer)
  case inner(Inner)
  case innerEnd(of: Int)
  case outerEnd
}

/// The active publishers.
private struct Followed {
  var tokens: [Int: Subscription] = [:]
  var outerHasEnded = false
  private var lastNumber = 0

  /// `true` if no update can follow.
  ///
  /// A queued update always has an active publisher before it.
  var areOver: Bool { outerHasEnded && tokens.isEmpty }

  mutating func nextNumber() -> Int {
    lastNumber += 1
    return lastNumber
  }
}
