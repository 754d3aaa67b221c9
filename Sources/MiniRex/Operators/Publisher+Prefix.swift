extension Publisher where Kind: StreamKind {
  /// Lets the first `count` updates through, and then ends.
  ///
  /// Every subscriber counts for itself. With a `count` of 0 it ends at once, without subscribing;
  /// a negative one stops the program.
  @inlinable
  public func prefix(_ count: Int) -> Broadcaster<Update> {
    if count < 0 { misuse("'prefix' takes a count of 0 or more, not \(count).") }
    return Broadcaster(trusting: self) { receive in
      if count == 0 { return .ended }
      let remaining = SerialState(count)
      let fuse = Fuse()
      let token = connect { update in
        guard unsafe remaining.value > 0 else { return }
        unsafe remaining.value -= 1
        if unsafe remaining.value == 0 { fuse.blow() }
        receive(update)
      }
      return fuse.attach(token)
    }
  }
}
