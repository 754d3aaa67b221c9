extension Publisher where Kind: StreamKind {
  /// Goes on with another publisher when this one has ended.
  ///
  /// ```swift
  /// let lines = history.append(live)
  /// ```
  ///
  /// The other one is subscribed to by the thread on which this one ends, and not before: what it
  /// tells until then is missed, and what it starts is not started. Of a published value, the current
  /// one follows; for a task write `append(task.broadcaster)`. It gives a broadcaster, even of two
  /// published values. It calls where they do, and ends with the other one; if this one does not
  /// end, that one's turn never comes. Each subscriber holds one subscription, to one of the two,
  /// and nothing waits.
  public func append<NextKind: StreamKind>(
    _ next: Publisher<Update, NextKind>
  ) -> Broadcaster<Update> {
    Broadcaster(lineage: .ofOperation(on: lineages + next.lineages), current: { nil }) { receive in
      let late = LateStart(of: next, receive)
      let first = follow(
        receive,
        onEnd: {
          // It may go on for as long as the other one has something to tell.
          ReleaseChain.interrupted { late.start() }
        })
      return Subscription(Succession(first, then: late.subscription))
    }
  }
}
