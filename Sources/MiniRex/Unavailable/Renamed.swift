extension Subscription {
  /// Unavailable; use the asynchronous overload of `invalidateAndWait()`.
  @available(*, unavailable, renamed: "invalidateAndWait()")
  public func invalidateAndDrain() async {}
}

extension InstrumentEvent.Kind {
  /// Unavailable; use ``sourceFinished``.
  @available(*, unavailable, renamed: "sourceFinished")
  public static var sourceGone: InstrumentEvent.Kind { .sourceFinished }

  /// Unavailable; use ``unsubscribed``.
  @available(*, unavailable, renamed: "unsubscribed")
  public static var ended: InstrumentEvent.Kind { .unsubscribed }
}
