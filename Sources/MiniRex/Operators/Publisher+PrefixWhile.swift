extension Publisher where Kind: StreamKind {
  /// Emits updates until `predicate` returns `false`, and finishes.
  ///
  /// ![prefix while finishes at the first update that fails, without emitting it](prefix-while.svg)
  ///
  /// The update that ends it is skipped, and `predicate` does not run again. The result is a
  /// broadcaster, even for a published value, whose first value may end it. Each subscriber starts
  /// from the beginning, and keeps one flag. Callbacks run where the publisher runs them.
  @inlinable
  public func prefix(
    while predicate: @escaping @Sendable (Update) -> Bool
  ) -> Broadcaster<Update> {
    Broadcaster(trusting: self) { receive in
      let isOver = SerialState(false)
      let cancellation = EarlyCancellation()
      let token = connect { update in
        if unsafe isOver.value { return }
        if predicate(update) { return receive(update) }
        unsafe isOver.value = true
        cancellation.cancel()
      }
      return cancellation.attach(token)
    }
  }
}
