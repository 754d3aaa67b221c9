// Combinations of kinds that do not type-check. See `Publisher+Unavailable`.

/// Unavailable; see the message.
@available(
  *, unavailable,
  message:
    "Convert a broadcaster with 'broadcaster.publishedValue(initial: …)', or with 'publishedValue()' if 'nil' may be its first value."
)
public func combineLatest<each Value: Sendable, each Kind: StreamKind>(
  _ input: repeat Publisher<each Value, each Kind>
) -> PublishedValue<(repeat each Value)> { misuse("Unavailable.") }

/// Unavailable; see the message.
@available(
  *, unavailable,
  message:
    "Convert a broadcaster with 'broadcaster.publishedValue(initial: …)', or with 'publishedValue()' if 'nil' may be its first value."
)
public func combineLatest<each Value: Sendable, each Kind: StreamKind, Result: Sendable>(
  _ input: repeat Publisher<each Value, each Kind>,
  transform: (repeat each Value) -> Result
) -> PublishedValue<Result> { misuse("Unavailable.") }

/// Unavailable; see the message.
@available(
  *, unavailable,
  message: "The tasks must have one failure type. Convert them with 'mapError { … }'."
)
public func all<each Success: Sendable, each Failure: Error>(
  _ task: repeat PublishedTask<each Success, each Failure>
) -> PublishedTask<(repeat each Success), any Error> { misuse("Unavailable.") }

/// Unavailable; see the message.
@available(
  *, unavailable,
  message: "The tasks must have one failure type. Convert them with 'mapError { … }'."
)
public func all<each Success: Sendable, each Failure: Error>(
  _ task: repeat ProgressiveTask<Double, each Success, each Failure>
) -> ProgressiveTask<Double, (repeat each Success), any Error> { misuse("Unavailable.") }
