extension Publisher where Kind: StreamKind {
  /// Lets updates through until `predicate` says no for the first time, and then ends.
  ///
  /// It gives a broadcaster, even of a published value, whose first value may be the one that ends
  /// it. The update that ends it is left out, and `predicate` is not called again. Every subscriber
  /// begins anew. It calls where the publisher does, and keeps one flag for each subscriber.
  @inlinable
  public func prefix(
    while predicate: @escaping @Sendable (Update) -> Bool
  ) -> Broadcaster<Update> {
    Broadcaster(trusting: self) { receive in
      let isOver = SerialState(false)
      let fuse = Fuse()
      let token = connect { update in
        if unsafe isOver.value { return }
        if predicate(update) { return receive(update) }
        unsafe isOver.value = true
        fuse.blow()
      }
      return fuse.attach(token)
    }
  }
}
