// What people combine that does not go together, as in `Publisher+Unavailable`.

/// Advises.
@available(
  *, unavailable,
  message:
    "write 'broadcaster.publishedValue(initial: …)' for an input that is a broadcaster, or 'publishedValue()' if it may begin with 'nil'"
)
public func combineLatest<each Value: Sendable, each Kind: StreamKind>(
  _ input: repeat Publisher<each Value, each Kind>
) -> PublishedValue<(repeat each Value)> { misuse("Unavailable.") }

/// Advises.
@available(
  *, unavailable,
  message:
    "write 'broadcaster.publishedValue(initial: …)' for an input that is a broadcaster, or 'publishedValue()' if it may begin with 'nil'"
)
public func combineLatest<each Value: Sendable, each Kind: StreamKind, Result: Sendable>(
  _ input: repeat Publisher<each Value, each Kind>,
  transform: (repeat each Value) -> Result
) -> PublishedValue<Result> { misuse("Unavailable.") }

/// Advises.
@available(
  *, unavailable,
  message: "tasks that are gathered fail alike; give them one type of failure with 'mapError { … }'"
)
public func all<each Success: Sendable, each Failure: Error>(
  _ task: repeat PublishedTask<each Success, each Failure>
) -> PublishedTask<(repeat each Success), any Error> { misuse("Unavailable.") }

/// Advises.
@available(
  *, unavailable,
  message: "tasks that are gathered fail alike; give them one type of failure with 'mapError { … }'"
)
public func all<each Success: Sendable, each Failure: Error>(
  _ task: repeat ProgressiveTask<Double, each Success, each Failure>
) -> ProgressiveTask<Double, (repeat each Success), any Error> { misuse("Unavailable.") }
