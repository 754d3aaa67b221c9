extension Publisher where Kind: StreamKind {
  /// Transforms each update to a publisher, and calls with the updates of all of them, of at most
  /// `limit` at once.
  ///
  /// ```swift
  /// let pictures = addresses.publisher.flatMap(limit: 4) { address in load(address) }
  /// ```
  ///
  /// Publishers of any kind will do; with 1 each follows when the one before it has ended, in order.
  /// It calls where they do, one call at a time, and ends when this publisher and all of them have.
  /// Each subscriber holds one subscription to each that it follows. Updates beyond the limit wait,
  /// in order and without a limit: ``Subscription/pendingUpdates`` of its token says how many, and
  /// ending that releases them.
  ///
  /// - Parameters:
  ///   - limit: How many publishers are followed at once; `.max` for all of them. Less than 1 stops
  ///     the program.
  ///   - transform: Called when it is the update's turn, so that nothing is made before.
  public func flatMap<Inner: Sendable, InnerKind: PublisherKind>(
    limit: Int, _ transform: @escaping @Sendable (Update) -> Publisher<Inner, InnerKind>
  ) -> Broadcaster<Inner> {
    if limit < 1 { misuse("'flatMap' takes a limit of 1 or more, not \(limit).") }
    return Broadcaster<Inner>(trusting: self) { receive in
      let delivery = Delivery<FlatMapEvent<Update, Inner>>(isOpen: true)
      let backlog = Backlog<Update>()
      let followed = SerialState(Followed())
      let context = contextOfInner
      // What an inner sends or ends while it is being subscribed to waits in the delivery, so a
      // chain of those that end at once needs no stack.
      @Sendable func begin(_ update: Update) {
        let publisher = transform(update)
        // `transform` may have ended the subscription.
        if delivery.subscriberCount == 0 { return }
        let number = unsafe followed.value.nextNumber()
        let sentinel = Sentinel { delivery.send(.innerEnd(of: number)) }
        let token = publisher.follow(in: context) { update in
          withExtendedLifetime(sentinel) { _ = delivery.send(.inner(update)) }
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
          if let next = backlog.popFirst() { begin(next) }
        case .outerEnd:
          unsafe followed.value.outerHasEnded = true
        }
        if unsafe followed.value.areOver { delivery.end() }
      }
      let sentinel = Sentinel { delivery.send(.outerEnd) }
      let input = follow { update in
        withExtendedLifetime(sentinel) { _ = delivery.send(.outer(update)) }
      }
      return Subscription(gate: gate, inputs: [input, Subscription(backlog)])
    }
  }
}

private enum FlatMapEvent<Outer: Sendable, Inner: Sendable>: Sendable {
  case outer(Outer)
  case inner(Inner)
  case innerEnd(of: Int)
  case outerEnd
}

/// The publishers that are being followed.
private struct Followed {
  var tokens: [Int: Subscription] = [:]
  var outerHasEnded = false
  private var lastNumber = 0

  /// Nothing can come any more: what waits, waits for one that is followed.
  var areOver: Bool { outerHasEnded && tokens.isEmpty }

  mutating func nextNumber() -> Int {
    lastNumber += 1
    return lastNumber
  }
}
