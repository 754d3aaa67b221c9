// Names of other libraries, and common mistakes. The compiler suggests the replacement. The type
// checker considers an unavailable name only if no other candidate fits, so these declarations do
// not slow down code that compiles.

extension Publisher where Kind == TaskKind {
  /// Unavailable; see the message.
  @available(
    *, unavailable,
    message:
      "A closure without a label receives the entire update. Use 'success: { … }, failure: { … }', or 'failure: nil'."
  )
  public func subscribe<Success, Failure>(success: (Success) -> Void) -> Subscription
  where Update == Result<Success, Failure> { .ended }
}

extension Publisher where Kind == ProgressiveTaskKind {
  /// Unavailable; see the message.
  @available(
    *, unavailable,
    message:
      "A closure without a label receives the entire update. Use 'success: { … }, failure: { … }', or 'failure: nil'."
  )
  public func subscribe<Progress, Success, Failure>(
    success: ((Success) -> Void)? = nil, progress: ((Progress) -> Void)? = nil
  ) -> Subscription
  where Update == TaskUpdate<Progress, Success, Failure> { .ended }
}

extension Publisher where Kind == ProgressiveTaskKind {
  /// Unavailable; see the message.
  @available(
    *, unavailable,
    message:
      "Label the closure, and pass 'failure' for a task that can fail. Use 'subscribe(success: nil, failure: nil, progress: { … })', or 'subscribe(failure: nil, progress: { … })'."
  )
  public func subscribe<Progress, Success, Failure>(
    progress: (Progress) -> Void
  ) -> Subscription
  where Update == TaskUpdate<Progress, Success, Failure> { .ended }

  /// Unavailable; see the message.
  @available(
    *, unavailable,
    message:
      "Use 'throttleProgress(for: …)', which keeps the result, or 'broadcaster.throttle(for: …)'."
  )
  public func throttle(
    for interval: Duration, latest: Bool = true, clock: any Clock<Duration> = ContinuousClock()
  ) -> Publisher { self }
}

extension Publisher {
  /// Unavailable; use ``subscribe(_:)``.
  @available(*, unavailable, renamed: "subscribe(_:)")
  public func sink(receiveValue: (Update) -> Void) -> Subscription { .ended }

  /// Unavailable; use ``subscribe(_:)``.
  @available(*, unavailable, renamed: "subscribe(_:)")
  public func observe(_ receive: (Update) -> Void) -> Subscription { .ended }
}

extension Publisher where Kind: StreamKind {
  /// Unavailable; see the message.
  @available(
    *, unavailable,
    message:
      "Limit the concurrent publishers with 'flatMap(limit: …)', or switch to the latest with 'flatMapLatest'."
  )
  public func flatMap<Inner: Sendable, InnerKind: PublisherKind>(
    _ transform: @escaping @Sendable (Update) -> Publisher<Inner, InnerKind>
  ) -> Broadcaster<Inner> { flatMap(limit: .max, transform) }
}

extension Publisher where Kind == PublishedValueKind {
  /// Unavailable; see the message.
  @available(
    *, unavailable,
    message: "Read it with 'current()', or iterate with 'for await … in values(…)'."
  )
  public var value: Update? { current() }

  /// Unavailable; see the message.
  @available(
    *, unavailable,
    message: "Only a published value has a current value. Use 'broadcaster.flatMapLatest { … }'."
  )
  public func flatMapLatest<Latest: Sendable, LatestKind: PublisherKind>(
    _ transform: @escaping @Sendable (Update) -> Publisher<Latest, LatestKind>
  ) -> Broadcaster<Latest> { broadcaster.flatMapLatest(transform) }
}
