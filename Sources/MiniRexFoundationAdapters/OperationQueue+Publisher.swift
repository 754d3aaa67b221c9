public import Foundation
public import MiniRex
internal import MiniRexDispatchAdapters

// Disfavoured, so that `.main` still means the dispatch queue.
extension Publisher {
  /// Calls in operations on the queue, in order.
  ///
  /// Each update waits for an operation, the first of a published value too. What waits is kept by
  /// the subscription, not by the queue: ending the subscription before the hop prevents the call
  /// and releases the update, even if the queue is suspended for ever. On a queue that runs many
  /// operations at once, calls still come one at a time.
  ///
  /// - Parameters:
  ///   - queue: Where to call.
  ///   - policy: How much may wait; unless you say otherwise, without a limit. The token of a
  ///     subscription tells how many updates wait and how many were dropped.
  @_disfavoredOverload
  public func receive(
    on queue: OperationQueue, buffering policy: BufferingPolicy<Kind> = .unbounded
  ) -> Publisher {
    called(buffering: policy) { job in queue.addOperation(job) }
  }

  /// Subscribes in an operation on the queue.
  ///
  /// Otherwise it is like the form for a `DispatchQueue`.
  @_disfavoredOverload
  public func subscribe(upstreamOn queue: OperationQueue) -> Publisher {
    started { job in queue.addOperation(job) }
  }

  /// Subscribes in an operation that is put on the queue after a while.
  ///
  /// Otherwise it is like the form for a `DispatchQueue`; until then a timer keeps the queue alive.
  ///
  /// - Parameters:
  ///   - duration: How long to wait at least; a negative one stops the program.
  ///   - queue: Where to subscribe.
  @_disfavoredOverload
  public func subscribe(upstreamAfter duration: Duration, on queue: OperationQueue) -> Publisher {
    let interval = dispatchInterval(duration, of: "subscribe(upstreamAfter:on:)")
    return started { job in
      DispatchQueue.global().asyncAfter(deadline: .now() + interval) { queue.addOperation(job) }
    }
  }
}
