extension Publisher where Kind == BroadcasterKind {
  /// A broadcaster that never emits and never finishes.
  public static var never: Broadcaster<Update> {
    let delivery = Delivery<Update>()
    return Publisher(value: .none) { delivery.subscribe($0) }
  }

  /// Creates a broadcaster that emits the updates inside `subscribe`, and finishes.
  public static func sequence(_ updates: [Update]) -> Broadcaster<Update> {
    let updates = SharedChainLink(updates)
    return Publisher(value: .none) { receive in
      for update in updates.content { receive(update) }
      return .ended
    }
  }

  /// Creates a broadcaster that emits the updates in order, one per interval, and finishes.
  ///
  /// ![sequence every emits one element per interval](sequence-every.svg)
  ///
  /// Each subscriber receives the first update one interval after it subscribed. Callbacks run
  /// where the clock runs them. Traps if the interval is not longer than 0.
  public static func sequence(
    _ updates: [Update], every interval: Duration, clock: any Clock<Duration> = ContinuousClock()
  ) -> Broadcaster<Update> {
    let ticks = clock.broadcaster(every: interval, watchedBy: nil).prefix(updates.count)
    return ticks.scan(-1) { index, _ in index + 1 }.map { updates[$0] }
  }

  /// Creates a broadcaster that emits all updates after a delay, and finishes.
  ///
  /// The delay starts separately for each subscriber. Callbacks run where the clock runs them.
  /// Traps if the delay is negative.
  public static func sequence(
    _ updates: [Update], after delay: Duration, clock: any Clock<Duration> = ContinuousClock()
  ) -> Broadcaster<Update> {
    sequence(updates).delay(for: delay, clock: clock)
  }
}

extension Publisher where Kind == PublishedValueKind {
  /// Creates a published value that never changes.
  ///
  /// It emits the value inside `subscribe`, and finishes.
  public static func constant(_ value: Update) -> PublishedValue<Update> {
    let value = SharedChainLink(value)
    return Publisher(value: .derived { _ in value.content }) { receive in
      receive(value.content)
      return .ended
    }
  }

  /// Creates a published value from a function that reads it and a broadcaster of its changes.
  ///
  /// Values may repeat or go back once: a change between the subscription to `changes` and the call
  /// of `initial` is emitted after the newer value that `initial` returned.
  ///
  /// - Parameters:
  ///   - initial: A closure that returns the current value. It runs once per subscriber, inside
  ///     `subscribe`.
  ///   - changes: A broadcaster of new values. It is subscribed to before `initial` runs, so that
  ///     no change is lost.
  public init(
    initial: @escaping @Sendable () -> Update, changes: Broadcaster<Update>
  ) {
    let changeTest = ChangeTest<Update>()
    self.init(of: changes, by: "PublishedValue", value: .untracked(initial)) { receive in
      let delivery = Delivery<Update>()
      let sentinel = Sentinel { delivery.end() }
      let gate = Subscription(to: delivery)
      let receive = skippingDuplicates(changeTest, receive)
      let input = delivery.subscribe(gate, receive) {
        let input = changes.follow { change in
          withExtendedLifetime(sentinel) { _ = delivery.send(change) }
        }
        receive(initial())
        return input
      }
      return Subscription(gate: gate, inputs: [input])
    }
  }

  /// Creates a published value that never changes and emits its value after a delay.
  ///
  /// The delay starts separately for each subscriber. Callbacks run where the clock runs them.
  /// Traps if the delay is negative.
  public static func constant(
    _ value: Update, after delay: Duration, clock: any Clock<Duration> = ContinuousClock()
  ) -> PublishedValue<Update> {
    constant(value).delay(for: delay, clock: clock)
  }
}
