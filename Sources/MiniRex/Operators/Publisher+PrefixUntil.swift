extension Publisher where Kind: StreamKind {
  /// Emits updates until `signal` emits, and finishes.
  ///
  /// ```swift
  /// let drag = positions.prefix(until: releases)
  /// ```
  ///
  /// ![prefix until finishes at the first signal, and drops an update of the same
  /// step](prefix-until.svg)
  ///
  /// `signal` is subscribed first, so an update that the same source sends together with the signal
  /// is skipped. If `signal` emits inside `subscribe`, this publisher finishes without subscribing.
  /// If `signal` finishes without an update, all updates are emitted. The result is a broadcaster,
  /// even for a published value. Callbacks run where the publisher runs them. Each subscriber holds
  /// one subscription to each of the two.
  public func prefix<Signal: Sendable>(until signal: Broadcaster<Signal>) -> Broadcaster<Update> {
    Broadcaster(lineage: .ofOperation(on: lineages + signal.lineages), value: .none) {
      receive in
      let cancellation = EarlyCancellation()
      let waiting = signal.follow { _ in cancellation.cancel() }
      if cancellation.isCanceled { return .ended }
      // The callback retains the subscription to the signal, which is therefore canceled together
      // with the publisher.
      let token = follow { [waiting] update in
        withExtendedLifetime(waiting) {
          if !cancellation.isCanceled { receive(update) }
        }
      }
      return cancellation.attach(token)
    }
  }
}
