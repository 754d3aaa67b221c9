public import Foundation
public import MiniRex
internal import MiniRexDispatchAdapters

// Disfavored, so that `.main` still means the dispatch queue.
extension Publisher {
  /// Dispatches each update to an operation on the queue, in order.
  ///
  /// This includes the first value of a published value. The subscription owns the queued updates,
  /// not the queue: canceling it drops them and prevents their callbacks, even if the queue stays
  /// suspended. Callbacks are serialized on a concurrent queue as well.
  ///
  /// - Parameters:
  ///   - queue: The queue on which callbacks run.
  ///   - policy: The bound of the queued updates. The default is unbounded. See
  ///     `Subscription.pendingUpdates` and `Subscription.droppedCount`.
  ///   - fileID: The file that `BroadcastSource.slowSubscribers` shows.
  ///   - line: The line that `BroadcastSource.slowSubscribers` shows.
  @_disfavoredOverload
  public func receive(
    on queue: OperationQueue, buffering policy: BufferingPolicy<Kind> = .unbounded,
    fileID: String = #fileID, line: Int = #line
  ) -> Publisher {
    called(buffering: policy, at: CodePlace(fileID: fileID, line: line)) { job in
      queue.addOperation(job)
    }
  }

  /// Subscribes in an operation on the queue.
  ///
  /// See the overload for a `DispatchQueue`.
  @_disfavoredOverload
  public func subscribe(on queue: OperationQueue) -> Publisher {
    started { job in queue.addOperation(job) }
  }

  /// Subscribes in an operation that is added to the queue after a delay.
  ///
  /// See the overload for a `DispatchQueue`. A timer retains the queue until then.
  ///
  /// - Parameters:
  ///   - duration: The minimum delay. Traps if negative.
  ///   - queue: The queue on which to subscribe.
  @_disfavoredOverload
  public func delaySubscription(for duration: Duration, on queue: OperationQueue) -> Publisher {
    let interval = dispatchInterval(duration, of: "delaySubscription(for:on:)")
    return started { job in
      DispatchQueue.global().asyncAfter(deadline: .now() + interval) { queue.addOperation(job) }
    }
  }
}

extension Publisher {
  /// Unavailable; use ``subscribe(on:)``.
  @available(*, unavailable, renamed: "subscribe(on:)")
  public func subscribe(upstreamOn queue: OperationQueue) -> Publisher { self }

  /// Unavailable; use ``delaySubscription(for:on:)``.
  @available(*, unavailable, renamed: "delaySubscription(for:on:)")
  public func subscribe(upstreamAfter duration: Duration, on queue: OperationQueue) -> Publisher {
    self
  }
}
