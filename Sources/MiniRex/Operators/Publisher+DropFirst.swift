extension Publisher where Kind: StreamKind {
  /// Skips the first `count` updates.
  ///
  /// ![dropFirst drops the given number of updates](dropFirst.svg)
  ///
  /// Each subscriber counts separately. The first update of a published value is its current value.
  /// Traps if `count` is negative.
  @inlinable
  public func dropFirst(_ count: Int = 1) -> Broadcaster<Update> {
    if count < 0 { misuse("'dropFirst' requires a count of 0 or more, not \(count).") }
    return Broadcaster(trusting: self) { receive in
      let remaining = SerialState(count)
      return connect { update in
        if unsafe remaining.value == 0 { return receive(update) }
        unsafe remaining.value -= 1
      }
    }
  }
}
