extension Publisher where Kind: StreamKind {
  /// Lets updates through until the broadcaster calls for the first time, and then ends.
  ///
  /// ```swift
  /// let drag = positions.prefix(until: releases)
  /// ```
  ///
  /// The broadcaster is subscribed to first, so an update that comes from the same source as its
  /// call is left out. If it calls inside `subscribe`, this ends without subscribing to the
  /// publisher; if it ends without a call, everything is let through. It gives a broadcaster, even
  /// of a published value. It calls where the publisher does, and each subscriber holds one
  /// subscription to each of the two.
  public func prefix<Signal: Sendable>(until signal: Broadcaster<Signal>) -> Broadcaster<Update> {
    Broadcaster(lineage: .ofOperation(on: lineages + signal.lineages), current: { nil }) {
      receive in
      let fuse = Fuse()
      let waiting = signal.follow { _ in fuse.blow() }
      if fuse.isBlown { return .ended }
      // The callback keeps the token, so the signal is left when the publisher is, or ends.
      let token = follow { [waiting] update in
        withExtendedLifetime(waiting) {
          if !fuse.isBlown { receive(update) }
        }
      }
      return fuse.attach(token)
    }
  }
}
