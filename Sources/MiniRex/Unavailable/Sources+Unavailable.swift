// Names of other libraries for sources. See `Publisher+Unavailable`.

extension BroadcastSource {
  /// Unavailable; see the message.
  @available(
    *, unavailable,
    message: "Subscribe to the publisher of the source. Use 'publisher.subscribe { … }'."
  )
  public func subscribe(_ receive: (Update) -> Void) -> Subscription { .ended }

  /// Unavailable; use ``broadcast(_:)``.
  @available(*, unavailable, renamed: "broadcast(_:)")
  public func onNext(_ update: Update) {}

  /// Unavailable; use ``broadcast(_:)``.
  @available(*, unavailable, renamed: "broadcast(_:)")
  public func accept(_ update: Update) {}

  /// Unavailable; see the message.
  @available(
    *, unavailable,
    message: "Transform the publisher of the source. Use 'publisher.map { … }'."
  )
  public func map<Result: Sendable>(_ transform: (Update) -> Result) -> Publisher<
    Result, BroadcasterKind
  > {
    misuse("Unavailable.")
  }

  /// Unavailable; see the message.
  @available(
    *, unavailable,
    message: "Subscribe to the publisher of the source. Use 'publisher.subscribe { … }'."
  )
  public func sink(receiveValue: (Update) -> Void) -> Subscription { .ended }
}

extension PublishedProperty {
  /// Unavailable; see the message.
  @available(
    *, unavailable,
    message: "Subscribe to the publisher of the source. Use 'publisher.subscribe { … }'."
  )
  public func subscribe(_ receive: (Value) -> Void) -> Subscription { .ended }

  /// Unavailable; see the message.
  @available(*, unavailable, message: "Set the 'value'.")
  public func send(_ value: Value) {}

  /// Unavailable; see the message.
  @available(*, unavailable, message: "Set the 'value'.")
  public func accept(_ value: Value) {}

  /// Unavailable; see the message.
  @available(
    *, unavailable,
    message: "Transform the publisher of the source. Use 'publisher.map { … }'."
  )
  public func map<Result: Sendable>(_ transform: (Value) -> Result) -> Publisher<
    Result, PublishedValueKind
  > {
    misuse("Unavailable.")
  }

  /// Unavailable; see the message.
  @available(
    *, unavailable,
    message: "Subscribe to the publisher of the source. Use 'publisher.subscribe { … }'."
  )
  public func sink(receiveValue: (Value) -> Void) -> Subscription { .ended }
}

extension TaskSource {
  /// Unavailable; see the message.
  @available(
    *, unavailable,
    message: "Subscribe to the publisher of the source. Use 'publisher.subscribe { … }'."
  )
  public func subscribe(_ receive: (Result<Success, Failure>) -> Void) -> Subscription { .ended }
}

extension ProgressiveTaskSource {
  /// Unavailable; see the message.
  @available(
    *, unavailable,
    message: "Subscribe to the publisher of the source. Use 'publisher.subscribe { … }'."
  )
  public func subscribe(_ receive: (TaskUpdate<Progress, Success, Failure>) -> Void) -> Subscription
  { .ended }
}
