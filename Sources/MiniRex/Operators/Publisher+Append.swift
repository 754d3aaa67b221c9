extension Publisher where Kind: StreamKind {
  /// Continues with another publisher after this publisher finishes.
  ///
  /// ```swift
  /// let lines = history.append(live)
  /// ```
  ///
  /// ![append continues with the second publisher when the first finishes](append.svg)
  ///
  /// The thread that finishes this publisher subscribes to the next publisher. If the `subscribe` of
  /// this publisher has not returned yet, the subscribing thread does. Earlier updates of the next
  /// publisher are missed, and its work does not start earlier. A published value then
  /// emits its current value. For a task, use `append(task.broadcaster)`. The result is a
  /// broadcaster, even for two published values. It finishes with the next publisher. If this
  /// publisher never finishes, the next one is never subscribed. Each subscriber holds one
  /// subscription at a time, and nothing is queued. A chain of any length, in any nesting, uses
  /// constant stack space. A `Broadcaster { receive in … }` whose closure subscribes to the next
  /// chain ends the chain: a recursion through such closures uses stack for each step. Use
  /// `Broadcaster { send in … }` with a loop instead.
  public func append<NextKind: StreamKind>(
    _ next: Publisher<Update, NextKind>
  ) -> Broadcaster<Update> {
    // Each may own the next publisher of a long chain.
    let pair = SharedChainLink((self, next))
    return Broadcaster(
      lineage: .ofOperation(on: lineages + next.lineages), value: .none
    ) { receive in
      let (first, second) = pair.content
      let context = second.contextOfInner
      let steps = [
        Succession<Update>.Step { second.follow(in: context, $0) },
        Succession<Update>.Step { first.follow($0) },
      ]
      if let outer = ForwardedCallback.forwarder(of: receive) as? Succession<Update> {
        outer.add(steps)
        return .ended
      }
      let succession = Succession(steps, receive)
      succession.begin()
      return Subscription(succession)
    }
  }
}
