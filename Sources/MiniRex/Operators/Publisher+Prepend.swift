extension Publisher where Kind: StreamKind {
  /// Calls with some updates of yours first.
  ///
  /// ```swift
  /// let states = connection.prepend(.connecting)
  /// ```
  ///
  /// They are told inside `subscribe`, to each subscriber, and nothing is lost meanwhile: the
  /// publisher is subscribed to before, and what it tells waits until they have been told. So all
  /// pass through a queue, as those of `merge` do. It gives a broadcaster, even of a published
  /// value, whose current one follows them. It ends with the publisher. To have a current value
  /// instead, write ``publishedValue(initial:)``; to put another publisher first, `append(_:)`.
  @inlinable
  public func prepend(_ updates: Update...) -> Broadcaster<Update> {
    Broadcaster(trusting: self) { receive in
      let delivery = Delivery<Update>(isOpen: true)
      let sentinel = Sentinel { delivery.end() }
      let gate = Subscription(delivery, place: Subscription.nowhere)
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
