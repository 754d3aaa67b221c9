public import Dispatch
public import MiniRex

extension Publisher {
  /// Calls on the queue, in order.
  ///
  /// Each update waits for a job on the queue, the first of a published value too. What waits is kept
  /// by the subscription, not by the queue, and without a limit: ending the subscription before the
  /// hop prevents the call and releases the update, even if the queue never runs. On a concurrent
  /// queue calls still come one at a time.
  public func receive(on queue: DispatchQueue) -> Publisher {
    Publisher(of: self, present: { nil }) { receive in
      let hop = Hop<Update, @Sendable (Update) -> Void>(receive) { hop, _ in
        queue.async { hop.run { $0($1) } }
      }
      return hop.subscribe(to: self)
    }
  }
}
