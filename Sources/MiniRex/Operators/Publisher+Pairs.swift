extension Publisher where Kind: StreamKind {
  /// Calls with each update and the one before it.
  ///
  /// ```swift
  /// let rises = level.publisher.pairs().filter { old, new in new > old }
  /// ```
  ///
  /// It gives a broadcaster, even of a published value, because the first update has none before
  /// it: the first call comes with the second. Every subscriber begins anew, and keeps the last
  /// update. It calls where the publisher does, and ends with it.
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
