extension Store {
  /// Unavailable; see the message.
  @available(
    *, unavailable,
    message:
      "Only an action changes the state of this store. Use 'store.send(…)' to send an action. A store without actions, 'Store<State, Never>', has writable members."
  )
  public subscript<Part>(dynamicMember part: any WritableKeyPath<State, Part> & Sendable) -> Part {
    get { observe(part) }
    set {}
  }
}
