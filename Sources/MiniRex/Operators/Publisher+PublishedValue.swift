extension Publisher where Kind == BroadcasterKind {
  /// A published value that follows the broadcaster from now on.
  ///
  /// It starts with `initial`, and skips duplicates. It holds one subscription to the broadcaster,
  /// for as long as the published value is kept or subscribed to, and ends with it.
  public func publishedValue(initial: Update) -> PublishedValue<Update> {
    let property = PublishedProperty(initial, lineage: nil)
    let storage = property.storage
    let own = Lineage.ofOperation(#function, on: lineage)
    func follow() -> Subscription {
      self.follow {
        storage.set($0)
      } onEnd: {
        storage.delivery.end()
      }
    }
    let upstream = if let own { WatchContext(own).inForce(follow) } else { follow() }
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
