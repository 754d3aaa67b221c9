public import MiniRex

extension Store {
  /// Unavailable; see the message.
  @available(
    *, unavailable,
    message:
      "Only an action changes the state of this store. Use 'store.send(…)' to send an action. A store without actions, 'Store<State, Never>', has writable members."
  )
  public subscript<Child>(dynamicMember child: any WritableKeyPath<State, Child> & Sendable)
    -> Child
  {
    get { observe(child) }
    set {}
  }

  /// Unavailable; see the message.
  @available(
    *, unavailable,
    message:
      "Subscribe to a publisher of the store. Use 'publisher.subscribe { … }', or 'publisher(of: …).subscribe { … }' for a member."
  )
  public func subscribe(_ receive: (State) -> Void) -> Subscription { .ended }

  /// Unavailable; see the message.
  @available(
    *, unavailable,
    message:
      "Subscribe to a publisher of the store. Use 'publisher.subscribe { … }', or 'publisher(of: …).subscribe { … }' for a member."
  )
  public func sink(receiveValue: (State) -> Void) -> Subscription { .ended }
}
