extension Publisher where Kind: StreamKind {
  /// Emits the given updates before the updates of the publisher.
  ///
  /// ```swift
  /// let states = connection.prepend(.connecting)
  /// ```
  ///
  /// ![prepend starts with its own updates for each subscriber](prepend.svg)
  ///
  /// They are emitted inside `subscribe`, to each subscriber. The publisher is subscribed first and
  /// its updates are queued until then, so none is lost. All updates pass through a queue, as with
  /// `merge`. The result is a broadcaster, even for a published value, whose current value follows
  /// the given updates. For a current value, use ``publishedValue(initial:)``. To put another
  /// publisher first, use `append(_:)`.
  @inlinable
  public func prepend(_ updates: Update...) -> Broadcaster<Update> {
    Broadcaster(trusting: self) { receive in
      let delivery = Delivery<Update>(isOpen: true)
      let sentinel = Sentinel { delivery.end() }
      let gate = Subscription(to: delivery)
      let input = delivery.subscribe(gate, receive) {
        let input = follow { update in
          withExtendedLifetime(sentinel) { _ = delivery.send(update) }
        }
        for update in updates { receive(update) }
        return input
      }
      return Subscription(gate: gate, inputs: [input])
    }
  }
}
