extension Publisher where Kind: StreamKind {
  /// Skips updates until `predicate` returns `false`.
  ///
  /// ![drop while drops updates that pass, and emits every update from the first failure
  /// on](drop-while.svg)
  ///
  /// The result is a broadcaster, even for a published value, whose first value may be skipped. The
  /// update that ends the skipping is emitted, and `predicate` does not run again. Each subscriber
  /// starts from the beginning, and keeps one flag.
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
