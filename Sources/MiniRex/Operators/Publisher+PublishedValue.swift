extension Publisher where Kind == BroadcasterKind {
  /// Returns a published value that follows the broadcaster from this call on.
  ///
  /// ![publishedValue starts with its initial value, skips duplicates, and finishes with its
  /// source](publishedValue-initial.svg)
  ///
  /// It starts with `initial`, and skips duplicates. It holds one subscription to the broadcaster
  /// while the published value or a subscription to it exists, and finishes with the broadcaster.
  public func publishedValue(initial: Update) -> PublishedValue<Update> {
    publishedValue(initial: initial) { $0 }
  }

  /// Returns a published value that starts with `nil` and follows the broadcaster from this call
  /// on.
  ///
  /// ```swift
  /// let lastVisitor = door.visitors.publishedValue()
  /// ```
  ///
  /// ![publishedValue without an initial value is nil first](publishedValue.svg)
  ///
  /// See ``publishedValue(initial:)``.
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
      value: .derived { session in
        withExtendedLifetime(following) { storage.read(in: session) }
      }
    ) { receive in
      storage.subscribe { value in
        withExtendedLifetime(following) { receive(value) }
      }
    }
  }
}

/// The state of a derived value.
///
/// Its publishers and its subscribers' callbacks retain it.
private final class Following: Sendable {
  let property: any AnyObject & Sendable
  let upstream: Subscription

  init(property: any AnyObject & Sendable, upstream: Subscription) {
    self.property = property
    self.upstream = upstream
  }
}
