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
