extension Publisher where Kind: StreamKind {
  /// Leaves out updates until `predicate` says no for the first time.
  ///
  /// It gives a broadcaster, even of a published value, whose first value may be left out. The
  /// update for which it says no is let through, as is everything after it, and `predicate` is not
  /// called again. Every subscriber begins anew. It calls where the publisher does, ends with it,
  /// and keeps one flag for each subscriber.
  @inlinable
  public func drop(
    while predicate: @escaping @Sendable (Update) -> Bool
  ) -> Broadcaster<Update> {
    Broadcaster(trusting: self) { receive in
      let isDropping = SerialState(true)
      return connect { update in
        if unsafe isDropping.value {
          if predicate(update) { return }
          unsafe isDropping.value = false
        }
        receive(update)
      }
    }
  }
}
