extension Publisher where Kind == BroadcasterKind {
  /// Emits the updates of the latest publisher, of any kind.
  ///
  /// ![switchToLatest cancels the previous inner subscription](switchToLatest.svg)
  ///
  /// Each new publisher is subscribed inside the callback that delivers it, after the subscription
  /// to the previous one is canceled. In-flight updates of the previous one are dropped. Callbacks
  /// are serialized, and run where the publishers run them. It finishes after this publisher and
  /// the latest inner publisher. Each subscriber holds one subscription to each of the two.
  public func switchToLatest<Latest: Sendable, LatestKind: PublisherKind>() -> Broadcaster<Latest>
  where Update == Publisher<Latest, LatestKind> {
    Broadcaster<Latest>(trusting: self) { follow(switching: $0) }
  }

  /// Transforms each update to a publisher, and emits the updates of the latest one.
  ///
  /// ```swift
  /// let results = searchText.flatMapLatest { text in search(for: text) }
  /// ```
  ///
  /// ![flatMapLatest emits the updates of the publisher for the last update](flatMapLatest.svg)
  ///
  /// Replacing a task cancels its work, unless other subscribers use it or its lifetime is
  /// ``TaskLifetime/keepsRunning``. See `switchToLatest()`.
  public func flatMapLatest<Latest: Sendable, LatestKind: PublisherKind>(
    _ transform: @escaping @Sendable (Update) -> Publisher<Latest, LatestKind>
  ) -> Broadcaster<Latest> {
    map(transform).switchToLatest()
  }
}

extension Publisher where Kind == PublishedValueKind {
  /// Returns the value of the latest published value.
  ///
  /// ![switchToLatest of values starts with the current value of the current
  /// publisher](switchToLatest-value.svg)
  ///
  /// The result is a published value. It emits its first value inside `subscribe`, if the inner
  /// values do. It skips a value that equals the last delivered one, even from another inner value.
  /// On a change, the old inner value is canceled before the new one is subscribed. Callbacks are
  /// serialized, and run where the publishers run them. It finishes after this publisher and the
  /// latest inner value. Each subscriber holds one subscription to each of the two, and the last
  /// delivered value. For publishers of another kind, use `broadcaster.switchToLatest()`.
  public func switchToLatest<Latest: Sendable>() -> PublishedValue<Latest>
  where Update == PublishedValue<Latest> {
    let changeTest = ChangeTest<Latest>()
    return PublishedValue<Latest>(
      of: self,
      value: .derived { read(in: $0)?.read(in: $0) }
    ) { receive in
      follow(switching: skippingDuplicates(changeTest, receive))
    }
  }

  /// Transforms each value to a published value, and returns the value of the latest one.
  ///
  /// ```swift
  /// let title = selectedDocument.flatMapLatest { $0.title }
  /// ```
  ///
  /// ![flatMapLatest of a value preserves the kind and skips equal values](flatMapLatest-value.svg)
  ///
  /// See `switchToLatest()`. If `transform` returns a publisher of another kind, use
  /// `broadcaster.flatMapLatest { … }`.
  public func flatMapLatest<Latest: Sendable>(
    _ transform: @escaping @Sendable (Update) -> PublishedValue<Latest>
  ) -> PublishedValue<Latest> {
    map(transform).switchToLatest()
  }
}

extension Publisher {
  /// Subscribes to this publisher and to its latest inner publisher.
  ///
  /// One delivery serializes the updates of both, and the end.
  fileprivate func follow<Latest: Sendable, LatestKind: PublisherKind>(
    switching receive: @escaping @Sendable (Latest) -> Void
  ) -> Subscription where Update == Publisher<Latest, LatestKind> {
    let delivery = Delivery<SwitchEvent<Latest, LatestKind>>(isOpen: true)
    let current = SerialState(Switched())
    let switched = SwitchedInputs()
    let context = contextOfInner
    let gate = delivery.subscribe { event in
      switch event {
      case .publisher(let publisher, let sentinel):
        unsafe current.value.number += 1
        unsafe current.value.token.take()?.invalidate()
        let number = unsafe current.value.number
        let token = switched.connect {
          publisher.follow(in: context) { update in
            withExtendedLifetime(sentinel) { delivery.relay(.update(update, from: number)) }
          }
        }
        unsafe current.value.token = token
        switched.follow(token)
      case .update(let update, let number):
        if unsafe number == current.value.number { receive(update) }
      }
    }
    // Every publisher that can still emit retains the sentinel: this publisher, a queued inner
    // publisher, and the latest one.
    let sentinel = Sentinel { delivery.end() }
    let input = follow { delivery.relayStep(.publisher($0, sentinel)) }
    return Subscription(GatedInputs(gate: gate, inputs: [input], switched: switched))
  }
}

private enum SwitchEvent<Latest: Sendable, LatestKind: PublisherKind>: Sendable {
  case publisher(Publisher<Latest, LatestKind>, Sentinel)
  case update(Latest, from: Int)
}

/// The subscription to the latest publisher.
private struct Switched {
  var number = 0
  var token: Subscription?
}
