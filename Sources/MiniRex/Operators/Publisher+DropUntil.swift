extension Publisher where Kind: StreamKind {
  /// Skips updates until `signal` emits.
  ///
  /// ```swift
  /// let lines = console.drop(until: logins)
  /// ```
  ///
  /// ![drop until drops the updates before the first signal](drop-until.svg)
  ///
  /// `signal` is subscribed first, so an update that the same source sends together with the signal
  /// is emitted. The first signal cancels the subscription to `signal`. If `signal` finishes
  /// without an update, this publisher finishes as well. The result is a broadcaster, even for a
  /// published value. Callbacks run where the publisher runs them, and it finishes with the
  /// publisher. Each subscriber holds one subscription to the publisher, and one to `signal` until
  /// the signal.
  public func drop<Signal: Sendable>(until signal: Broadcaster<Signal>) -> Broadcaster<Update> {
    Broadcaster(lineage: .ofOperation(on: lineages + signal.lineages), value: .none) {
      receive in
      let opening = EarlyCancellation()
      let cancellation = EarlyCancellation()
      let waiting = opening.attach(
        signal.follow(
          { _ in opening.cancel() }, onEnd: { if !opening.isCanceled { cancellation.cancel() } }))
      if cancellation.isCanceled { return .ended }
      // The callback retains the subscription to the signal, which is therefore canceled together
      // with the publisher.
      let token = follow { [waiting] update in
        withExtendedLifetime(waiting) {
          if opening.isCanceled { receive(update) }
        }
      }
      return cancellation.attach(token)
    }
  }
}
