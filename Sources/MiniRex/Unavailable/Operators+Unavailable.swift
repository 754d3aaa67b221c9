// Operators of other libraries. See `Publisher+Unavailable`.

extension Publisher {
  /// Unavailable; see the message.
  @available(
    *, unavailable,
    message:
      "A transform cannot throw. Use 'map { value in Result { try … } }', or 'task.flatMap { value in PublishedTask { try await … } }'."
  )
  public func tryMap<Result>(_ transform: (Update) throws -> Result) -> Publisher { self }

  /// Unavailable; see the message.
  @available(
    *, unavailable,
    message: "Only tasks fail. Use 'task.recover { error in … }' with a task as the replacement."
  )
  public func `catch`<Replacement>(_ handler: (any Error) -> Replacement) -> Publisher { self }

  /// Unavailable; see the message.
  @available(
    *, unavailable,
    message:
      "A publisher cannot repeat work. Create the task with 'PublishedTask.retrying(times: …) { … }'."
  )
  public func retry(_ times: Int) -> Publisher { self }

  /// Unavailable; see the message.
  @available(
    *, unavailable,
    message: "Use 'trace(…)', which prints subscriptions, updates, and ends."
  )
  public func print(_ prefix: String = "") -> Publisher { self }

  /// Unavailable; see the message.
  @available(
    *, unavailable,
    message:
      "Delete 'receiveCompletion'. Use 'subscribe(_:onEnd:)', or for tasks 'subscribe(success:failure:)'."
  )
  public func sink(
    receiveCompletion: (Result<Update, any Error>) -> Void, receiveValue: (Update) -> Void
  ) -> Subscription { .ended }

  /// Unavailable; see the message.
  @available(
    *, unavailable,
    message:
      "Write the policy for updates that arrive while the closure runs. Use 'subscribe(.bufferingNewest(1)) { … }'."
  )
  public func subscribe(_ receive: @Sendable (Update) async -> Void) -> Subscription { .ended }

  /// Unavailable; see the message.
  @available(
    *, unavailable,
    message:
      "Write the policy. Use 'values(.bufferingNewest(1))' for the newest update, or 'values(.unbounded)' for all."
  )
  public var values: PublisherValues<Update> { misuse("Unavailable.") }
}

extension Publisher where Kind: StreamKind {
  /// Unavailable; use ``removeDuplicates()``.
  @available(*, unavailable, renamed: "removeDuplicates()")
  public func distinctUntilChanged() -> Publisher { self }

  /// Unavailable; use ``prepend(_:)``.
  @available(*, unavailable, renamed: "prepend(_:)")
  public func startWith(_ updates: Update...) -> Broadcaster<Update> { broadcaster }

  /// Unavailable; use ``dropFirst(_:)``.
  @available(*, unavailable, renamed: "dropFirst(_:)")
  public func skip(_ count: Int) -> Broadcaster<Update> { broadcaster }

  /// Unavailable; use ``prefix(_:)``.
  @available(*, unavailable, renamed: "prefix(_:)")
  public func take(_ count: Int) -> Broadcaster<Update> { broadcaster }

  /// Unavailable; use ``withLatest(from:)``.
  @available(*, unavailable, renamed: "withLatest(from:)")
  public func withLatestFrom<Other, OtherKind>(
    _ other: Publisher<Other, OtherKind>
  ) -> Broadcaster<(Update, Other)> { misuse("Unavailable.") }

  /// Unavailable; see the message.
  @available(
    *, unavailable,
    message:
      "Delete the scheduler, or pass a clock: 'debounce(for: .milliseconds(300), clock: clock)'."
  )
  public func debounce<Scheduler>(for interval: Duration, scheduler: Scheduler) -> Publisher {
    self
  }

  /// Unavailable; see the message.
  @available(
    *, unavailable,
    message: "Delete the scheduler, or pass a clock: 'throttle(for: .seconds(1), clock: clock)'."
  )
  public func throttle<Scheduler>(
    for interval: Duration, scheduler: Scheduler, latest: Bool
  ) -> Publisher { self }

  /// Unavailable; see the message.
  @available(
    *, unavailable,
    message: "Delete the scheduler, or pass a clock: 'delay(for: .seconds(1), clock: clock)'."
  )
  public func delay<Scheduler>(for interval: Duration, scheduler: Scheduler) -> Publisher { self }

  /// Unavailable; see the message.
  @available(
    *, unavailable,
    message: "The first value may be missing. Use 'filter { … }.publishedValue(initial: …)'."
  )
  public func filter(_ isIncluded: (Update) -> Bool) -> PublishedValue<Update> {
    misuse("Unavailable.")
  }

  /// Unavailable; see the message.
  @available(
    *, unavailable,
    message: "'scan' is a broadcaster. Use 'scan(…) { … }.publishedValue(initial: …)'."
  )
  public func scan<Result: Sendable>(
    _ initial: Result, _ combine: (Result, Update) -> Result
  ) -> PublishedValue<Result> { misuse("Unavailable.") }
}

extension Publisher where Kind == BroadcasterKind {
  /// Unavailable; see the message.
  @available(
    *, unavailable,
    message:
      "A broadcaster has no current value. Use 'publishedValue(initial: …)', and read 'current()' from that."
  )
  public func current() -> Update? { nil }
}

extension Publisher where Kind == TaskKind {
  /// Unavailable; see the message.
  @available(
    *, unavailable,
    message: "A task has one result. Use 'flatMap { … }'."
  )
  public func flatMapLatest<Latest: Sendable, LatestKind: PublisherKind>(
    _ transform: (Update) -> Publisher<Latest, LatestKind>
  ) -> Broadcaster<Latest> { misuse("Unavailable.") }

  /// Unavailable; see the message.
  @available(
    *, unavailable,
    message:
      "A task has one result, and no current value. Use 'await task.result', or 'try await task.value'."
  )
  public func current() -> Update? { nil }
}
