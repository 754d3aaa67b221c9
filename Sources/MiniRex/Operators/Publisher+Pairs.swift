extension Publisher where Kind: StreamKind {
  /// Emits each update together with the previous one.
  ///
  /// ```swift
  /// let rises = level.publisher.pairs().filter { old, new in new > old }
  /// ```
  ///
  /// ![pairs emits each update with its predecessor](pairs.svg)
  ///
  /// The result is a broadcaster, even for a published value, because it first emits at the second
  /// update. Each subscriber starts from the beginning, and keeps the last update. Callbacks run
  /// where the publisher runs them.
  @inlinable
  public func pairs() -> Broadcaster<(old: Update, new: Update)> {
    Broadcaster<(old: Update, new: Update)>(trusting: self) { receive in
      let last = SerialState<Update?>(nil)
      return connect { update in
        let old = unsafe last.value
        unsafe last.value = update
        if let old { receive((old, update)) }
      }
    }
  }
}
