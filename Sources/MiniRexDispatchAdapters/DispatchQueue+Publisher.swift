public import Dispatch
public import MiniRex

extension Publisher {
  /// Calls on the queue, in order.
  ///
  /// Each update waits for a job on the queue, the first of a published value too. What waits is
  /// kept by the subscription, not by the queue: ending the subscription before the hop prevents
  /// the call and releases the update, even if the queue never runs. On a concurrent queue calls
  /// still come one at a time.
  ///
  /// - Parameters:
  ///   - queue: Where to call.
  ///   - policy: How much may wait; unless you say otherwise, without a limit. The token of a
  ///     subscription tells how many updates wait and how many were dropped.
  @inlinable
  public func receive(
    on queue: DispatchQueue, buffering policy: BufferingPolicy<Kind> = .unbounded
  ) -> Publisher {
    called(buffering: policy) { job in queue.async { job() } }
  }

  /// Subscribes on the queue.
  ///
  /// What is sent before the queue gets there is missed; a published value gives the value that is
  /// current then. Ending the subscription earlier prevents it, and releases the publisher and the
  /// callback, even if the queue never runs. Calls come where the publisher makes them: those
  /// inside `subscribe` on the queue, others where they are sent.
  public func subscribe(upstreamOn queue: DispatchQueue) -> Publisher {
    started { job in queue.async { job() } }
  }

  /// Subscribes on the queue, after a while.
  ///
  /// Ending the subscription earlier prevents it, like in `subscribe(upstreamOn:)`. The time passes
  /// as it does for `asyncAfter`, not while the machine sleeps.
  ///
  /// - Parameters:
  ///   - duration: How long to wait at least; a negative one stops the program.
  ///   - queue: Where to subscribe.
  public func subscribe(upstreamAfter duration: Duration, on queue: DispatchQueue) -> Publisher {
    let interval = dispatchInterval(duration, of: "subscribe(upstreamAfter:on:)")
    return started { job in queue.asyncAfter(deadline: .now() + interval) { job() } }
  }
}
