// What people write who come from elsewhere, or expect it to be there: the compiler says what to
// write instead. A name that is unavailable is looked at only where nothing else fits, so that it
// costs no program that compiles any time.

extension Publisher where Kind == TaskKind {
  /// Advises.
  @available(
    *, unavailable,
    message:
      "a closure without a label gets the whole update; for its parts write 'success: { … }, failure: { … }', or 'failure: nil'"
  )
  public func subscribe<Success, Failure>(success: (Success) -> Void) -> Subscription
  where Update == Result<Success, Failure> { .ended }
}

extension Publisher where Kind == ProgressiveTaskKind {
  /// Advises.
  @available(
    *, unavailable,
    message:
      "a closure without a label gets the whole update; for its parts write 'success: { … }, failure: { … }', or 'failure: nil'"
  )
  public func subscribe<Progress, Success, Failure>(
    success: ((Success) -> Void)? = nil, progress: ((Progress) -> Void)? = nil
  ) -> Subscription
  where Update == TaskUpdate<Progress, Success, Failure> { .ended }
}

extension Publisher {
  /// Advises.
  @available(*, unavailable, renamed: "subscribe(_:)")
  public func sink(receiveValue: (Update) -> Void) -> Subscription { .ended }

  /// Advises.
  @available(*, unavailable, renamed: "subscribe(_:)")
  public func observe(_ receive: (Update) -> Void) -> Subscription { .ended }
}

extension Publisher where Kind: StreamKind {
  /// Advises.
  @available(
    *, unavailable,
    message:
      "say how many are followed at once with 'flatMap(limit: …)', or follow the last one with 'flatMapLatest'"
  )
  public func flatMap<Inner: Sendable, InnerKind: PublisherKind>(
    _ transform: @escaping @Sendable (Update) -> Publisher<Inner, InnerKind>
  ) -> Broadcaster<Inner> { flatMap(limit: .max, transform) }
}

extension Publisher where Kind == PublishedValueKind {
  /// Advises.
  @available(
    *, unavailable,
    message: "read it with 'current()', or follow it with 'for await … in values(…)'"
  )
  public var value: Update? { current() }

  /// Advises.
  @available(
    *, unavailable,
    message:
      "what is not a published value may have nothing to tell yet; write 'broadcaster.flatMapLatest { … }'"
  )
  public func flatMapLatest<Latest: Sendable, LatestKind: PublisherKind>(
    _ transform: @escaping @Sendable (Update) -> Publisher<Latest, LatestKind>
  ) -> Broadcaster<Latest> { broadcaster.flatMapLatest(transform) }
}
