extension Publisher where Kind == BroadcasterKind {
  /// Calls with the updates of the publisher that came last, whatever its kind.
  ///
  /// It is subscribed to inside the callback that it comes with, after the one before it has been
  /// left; what that one had under way is not delivered any more. It calls where the publishers do,
  /// one call at a time, and ends when this one and the last of them have. Each subscriber holds
  /// one subscription to this publisher and one to the last that came.
  public func switchToLatest<Latest: Sendable, LatestKind: PublisherKind>() -> Broadcaster<Latest>
  where Update == Publisher<Latest, LatestKind> {
    Broadcaster<Latest>(trusting: self) { follow(switching: $0) }
  }

  /// Transforms each update to a publisher, and calls with the updates of the last one.
  ///
  /// ```swift
  /// let results = searchText.flatMapLatest { text in search(for: text) }
  /// ```
  ///
  /// A task that is left is cancelled, unless somebody else is subscribed to it. Otherwise it is
  /// like `switchToLatest()` after `map`.
  public func flatMapLatest<Latest: Sendable, LatestKind: PublisherKind>(
    _ transform: @escaping @Sendable (Update) -> Publisher<Latest, LatestKind>
  ) -> Broadcaster<Latest> {
    map(transform).switchToLatest()
  }
}

extension Publisher where Kind == PublishedValueKind {
  /// Has the value of the published value that is current.
  ///
  /// It is a published value: the first call is made inside `subscribe`, if theirs are, and what
  /// equals the value delivered last is skipped, even when it comes from another one. When that one
  /// changes, the old one is left before the new one is subscribed to. It calls where they do, one
  /// call at a time, and ends when this one and the last of them have. Each subscriber holds one
  /// subscription to this one, one to the last that came, and the value delivered last. For
  /// publishers of another kind write `broadcaster.switchToLatest()`.
  public func switchToLatest<Latest: Sendable>() -> PublishedValue<Latest>
  where Update == PublishedValue<Latest> {
    let changeTest = ChangeTest<Latest>()
    return PublishedValue<Latest>(of: self, current: { readCurrent()?.readCurrent() }) { receive in
      follow(switching: skippingDuplicates(changeTest, receive))
    }
  }

  /// Transforms each value to a published value, and has the value of the last one.
  ///
  /// ```swift
  /// let title = selectedDocument.flatMapLatest { $0.title }
  /// ```
  ///
  /// It is like `switchToLatest()` after `map`. If `transform` gives a publisher of another kind,
  /// write `broadcaster.flatMapLatest { … }`.
  public func flatMapLatest<Latest: Sendable>(
    _ transform: @escaping @Sendable (Update) -> PublishedValue<Latest>
  ) -> PublishedValue<Latest> {
    map(transform).switchToLatest()
  }
}

extension Publisher {
  /// Updates of both, and the end, pass through one delivery, so that they come one at a time.
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
        let token = publisher.follow(in: context) { update in
          withExtendedLifetime(sentinel) { _ = delivery.send(.update(update, from: number)) }
        }
        unsafe current.value.token = token
        switched.follow(token)
      case .update(let update, let number):
        if unsafe number == current.value.number { receive(update) }
      }
    }
    // Whoever can still bring something keeps it: this publisher, one that waits for its turn, and
    // the one that came last.
    let sentinel = Sentinel { delivery.end() }
    let input = follow { delivery.send(.publisher($0, sentinel)) }
    return Subscription(GatedInputs(gate: gate, inputs: [input], switched: switched))
  }
}

private enum SwitchEvent<Latest: Sendable, LatestKind: PublisherKind>: Sendable {
  case publisher(Publisher<Latest, LatestKind>, Sentinel)
  case update(Latest, from: Int)
}

/// The publisher that came last.
private struct Switched {
  var number = 0
  var token: Subscription?
}
