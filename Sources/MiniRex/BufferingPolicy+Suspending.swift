extension BufferingPolicy where Kind == BroadcasterKind {
  /// Suspends the senders while `limit` updates are in flight to the subscriber.
  ///
  /// ```swift
  /// let values = lines.publisher.values(.suspending(64))
  /// ```
  ///
  /// No update is dropped. ``BroadcastSource/send(_:)-777au`` suspends at the limit, and continues at
  /// half of it. The updates in flight are all updates between the sources and the
  /// subscriber: in its buffer, in a dispatch to a queue or an actor, in the queue of an operator
  /// with several inputs, and in `flatMap(limit:)`. Updates that an operator holds back on
  /// purpose, as `delay` and `chunked` do, do not count. Sources that cannot wait exceed the limit,
  /// as ``BroadcastSource/broadcast(_:)`` does: watch ``PublisherValues/bufferedCount``.
  ///
  /// One such subscriber slows all subscribers of the same source down, so choose a timeout for
  /// subscribers that you do not trust. Traps if `limit` is less than 1.
  public static func suspending(_ limit: Int) -> BufferingPolicy {
    BufferingPolicy(limit: .suspending(SuspendingLimit(limit)))
  }

  /// Suspends the senders while `limit` updates are in flight to the subscriber, but cancels the
  /// subscriber if it stalls them for too long.
  ///
  /// The timeout starts when the subscriber becomes full, and restarts with each update that it
  /// takes. When it passes, the subscription is canceled, the loop receives its buffer and ends,
  /// and ``PublisherValues/hasTimedOut`` is `true`. Senders and other subscribers continue.
  ///
  /// - Parameters:
  ///   - limit: The maximum number of updates in flight. Traps if less than 1.
  ///   - timeout: The longest time without a taken update. Traps if negative.
  ///   - clock: The only source of time.
  public static func suspending(
    _ limit: Int, timeout: Duration, clock: any Clock<Duration> = ContinuousClock()
  ) -> BufferingPolicy {
    BufferingPolicy(
      limit: .suspending(SuspendingLimit(limit, timeout: timeout, clock: clock)))
  }
}

extension BufferingPolicy where Kind == ProgressiveTaskKind {
  /// Suspends the work while `limit` updates are in flight to the subscriber.
  ///
  /// Work that reads a file or the output of a process then stops reading. Work that cannot wait
  /// exceeds the limit. Traps if `limit` is less than 1. See the same policy of broadcasters.
  public static func suspending(_ limit: Int) -> BufferingPolicy {
    BufferingPolicy(limit: .suspending(SuspendingLimit(limit)))
  }

  /// Suspends the work while `limit` updates are in flight to the subscriber, but cancels the
  /// subscriber if it stalls the work for too long.
  ///
  /// See the same policy of broadcasters.
  ///
  /// - Parameters:
  ///   - limit: The maximum number of updates in flight. Traps if less than 1.
  ///   - timeout: The longest time without a taken update. Traps if negative.
  ///   - clock: The only source of time.
  public static func suspending(
    _ limit: Int, timeout: Duration, clock: any Clock<Duration> = ContinuousClock()
  ) -> BufferingPolicy {
    BufferingPolicy(
      limit: .suspending(SuspendingLimit(limit, timeout: timeout, clock: clock)))
  }
}
