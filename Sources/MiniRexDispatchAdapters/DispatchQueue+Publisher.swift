public import Dispatch
public import MiniRex

extension Publisher {
  /// Dispatches each update to the queue, in order.
  ///
  /// This includes the first value of a published value. The subscription owns the queued updates,
  /// not the queue: canceling it drops them and prevents their callbacks, even if the queue never
  /// runs. Callbacks are serialized on a concurrent queue as well.
  ///
  /// - Parameters:
  ///   - queue: The queue on which callbacks run.
  ///   - policy: The bound of the queued updates. The default is unbounded. See
  ///     `Subscription.pendingUpdates` and `Subscription.droppedCount`.
  ///   - fileID: The file that `BroadcastSource.slowSubscribers` shows.
  ///   - line: The line that `BroadcastSource.slowSubscribers` shows.
  @inlinable
  public func receive(
    on queue: DispatchQueue, buffering policy: BufferingPolicy<Kind> = .unbounded,
    fileID: String = #fileID, line: Int = #line
  ) -> Publisher {
    called(buffering: policy, at: CodePlace(fileID: fileID, line: line)) { job in
      queue.async { job() }
    }
  }

  /// Subscribes on the queue.
  ///
  /// Updates sent before the job runs are missed. A published value emits the value that is current
  /// then. Canceling the subscription earlier prevents the job, and releases the publisher and the
  /// callback, even if the queue never runs. Callbacks run where the publisher runs them: on the
  /// queue inside `subscribe`, and on the sender's thread later.
  public func subscribe(on queue: DispatchQueue) -> Publisher {
    started { job in queue.async { job() } }
  }

  /// Subscribes on the queue, after a delay.
  ///
  /// Canceling the subscription earlier prevents the job, as for `subscribe(on:)`. Like
  /// `asyncAfter`, it does not count the time while the machine sleeps.
  ///
  /// - Parameters:
  ///   - duration: The minimum delay. Traps if negative.
  ///   - queue: The queue on which to subscribe.
  public func delaySubscription(for duration: Duration, on queue: DispatchQueue) -> Publisher {
    let interval = dispatchInterval(duration, of: "delaySubscription(for:on:)")
    return started { job in queue.asyncAfter(deadline: .now() + interval) { job() } }
  }
}

extension Publisher {
  /// Unavailable; use ``subscribe(on:)``.
  @available(*, unavailable, renamed: "subscribe(on:)")
  public func subscribe(upstreamOn queue: DispatchQueue) -> Publisher { self }

  /// Unavailable; use ``delaySubscription(for:on:)``.
  @available(*, unavailable, renamed: "delaySubscription(for:on:)")
  public func subscribe(upstreamAfter duration: Duration, on queue: DispatchQueue) -> Publisher {
    self
  }
}
