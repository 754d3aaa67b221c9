// What people ask of a source who come from elsewhere, as in `Publisher+Unavailable`.

extension BroadcastSource {
  /// Advises.
  @available(
    *, unavailable, message: "a source is not a publisher; write 'publisher.subscribe { … }'"
  )
  public func subscribe(_ receive: (Update) -> Void) -> Subscription { .ended }

  /// Advises.
  @available(*, unavailable, renamed: "broadcast(_:)")
  public func send(_ update: Update) {}

  /// Advises.
  @available(*, unavailable, renamed: "broadcast(_:)")
  public func onNext(_ update: Update) {}
}

extension PublishedProperty {
  /// Advises.
  @available(
    *, unavailable, message: "a source is not a publisher; write 'publisher.subscribe { … }'"
  )
  public func subscribe(_ receive: (Value) -> Void) -> Subscription { .ended }

  /// Advises.
  @available(*, unavailable, message: "set its 'value'")
  public func send(_ value: Value) {}
}

extension TaskSource {
  /// Advises.
  @available(
    *, unavailable, message: "a source is not a publisher; write 'publisher.subscribe { … }'"
  )
  public func subscribe(_ receive: (Result<Success, Failure>) -> Void) -> Subscription { .ended }
}

extension ProgressiveTaskSource {
  /// Advises.
  @available(
    *, unavailable, message: "a source is not a publisher; write 'publisher.subscribe { … }'"
  )
  public func subscribe(_ receive: (TaskUpdate<Progress, Success, Failure>) -> Void) -> Subscription
  { .ended }
}
