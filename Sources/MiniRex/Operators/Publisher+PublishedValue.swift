extension Publisher where Kind == BroadcasterKind {
  /// A published value that follows the broadcaster from now on.
  ///
  /// It starts with `initial`, and skips duplicates. It holds one subscription to the broadcaster,
  /// for as long as the published value is kept or subscribed to, and ends with it.
  public func publishedValue(initial: Update) -> PublishedValue<Update> {
    publishedValue(initial: initial) { $0 }
  }

  /// A published value that is `nil` first, and follows the broadcaster from now on.
  ///
  /// ```swift
  /// let lastVisitor = door.visitors.publishedValue()
  /// ```
  ///
  /// Otherwise it is like ``publishedValue(initial:)``.
  public func publishedValue() -> PublishedValue<Update?> {
    publishedValue(initial: nil) { $0 }
  }

  private func publishedValue<Value: Sendable>(
    initial: Value, _ transform: @escaping @Sendable (Update) -> Value
  ) -> PublishedValue<Value> {
    let property = PublishedProperty(initial, lineage: nil)
    let storage = property.storage
    let own = Lineage.ofOperation(#function, on: lineage)
    func follow() -> Subscription {
      self.follow {
        storage.set(transform($0))
      } onEnd: {
        storage.delivery.end()
      }
    }
    let upstream = if let own { WatchContext(own).inForce(follow) } else { follow() }
    storage.delivery.follow(upstream)
    let following = Following(property: property, upstream: upstream)
    return PublishedValue(
      lineage: own,
      current: { withExtendedLifetime(following) { storage.current } }
    ) { receive in
      storage.subscribe { value in
        withExtendedLifetime(following) { receive(value) }
      }
    }
  }
}

/// What a derived value needs to live: its publishers and its subscribers' callbacks keep it.
private final class Following: Sendable {
  let property: any AnyObject & Sendable
  let upstream: Subscription

  init(property: any AnyObject & Sendable, upstream: Subscription) {
    self.property = property
    self.upstream = upstream
  }
}
