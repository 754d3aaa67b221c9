extension Publisher where Kind: StreamKind {
  /// Emits the first `count` updates, and finishes.
  ///
  /// ![prefix finishes in the step of its last update](prefix.svg)
  ///
  /// Each subscriber counts separately. With a `count` of 0 it finishes immediately, without
  /// subscribing. Traps if `count` is negative.
  @inlinable
  public func prefix(_ count: Int) -> Broadcaster<Update> {
    if count < 0 { misuse("'prefix' requires a count of 0 or more, not \(count).") }
    return Broadcaster(trusting: self) { receive in
      if count == 0 { return .ended }
      let remaining = SerialState(count)
      let cancellation = EarlyCancellation()
      let token = connect { update in
        guard unsafe remaining.value > 0 else { return }
        unsafe remaining.value -= 1
        receive(update)
        // Canceled before, `ended` would return while the last callback runs.
        if unsafe remaining.value == 0 { cancellation.cancel() }
      }
      return cancellation.attach(token)
    }
  }
}
