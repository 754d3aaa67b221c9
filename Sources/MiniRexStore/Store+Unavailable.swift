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
}
