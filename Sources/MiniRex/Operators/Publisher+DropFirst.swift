extension Publisher where Kind: StreamKind {
  /// Leaves out the first `count` updates.
  ///
  /// Every subscriber counts for itself; of a published value, the first is the current one. A
  /// negative `count` stops the program.
  @inlinable
  public func dropFirst(_ count: Int = 1) -> Broadcaster<Update> {
    if count < 0 { misuse("'dropFirst' takes a count of 0 or more, not \(count).") }
    return Broadcaster(trusting: self) { receive in
      let remaining = SerialState(count)
      return connect { update in
        if unsafe remaining.value == 0 { return receive(update) }
        unsafe remaining.value -= 1
      }
    }
  }
}
