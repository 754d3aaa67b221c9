extension Publisher where Kind: StreamKind {
  /// Leaves out updates until the broadcaster calls for the first time.
  ///
  /// ```swift
  /// let lines = console.drop(until: logins)
  /// ```
  ///
  /// The broadcaster is subscribed to first, so an update that comes from the same source as its
  /// call is let through, and is left then. If it ends without a call, nothing can come any more,
  /// and this ends too. It gives a broadcaster, even of a published value. It calls where the
  /// publisher does, and ends with it; until the call each subscriber holds one subscription to
  /// each of the two.
  public func drop<Signal: Sendable>(until signal: Broadcaster<Signal>) -> Broadcaster<Update> {
    Broadcaster(lineage: .ofOperation(on: lineages + signal.lineages), current: { nil }) {
      receive in
      let opening = Fuse()
      let fuse = Fuse()
      let waiting = opening.attach(
        signal.follow({ _ in opening.blow() }, onEnd: { if !opening.isBlown { fuse.blow() } }))
      if fuse.isBlown { return .ended }
      // The callback keeps the token, so the signal is left when the publisher is, or ends.
      let token = follow { [waiting] update in
        withExtendedLifetime(waiting) {
          if opening.isBlown { receive(update) }
        }
      }
      return fuse.attach(token)
    }
  }
}
