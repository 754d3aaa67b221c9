// Names of other libraries for retaining a subscription. See `Publisher+Unavailable`.

extension Subscription {
  /// Unavailable; use ``invalidate()``.
  @available(*, unavailable, renamed: "invalidate()")
  public func cancel() {}

  /// Unavailable; use ``invalidate()``.
  @available(*, unavailable, renamed: "invalidate()")
  public func dispose() {}

  /// Unavailable; see the message.
  @available(
    *, unavailable,
    message: "Use a 'SubscriptionBag' instead of the set, and 'store(in: bag)'."
  )
  public func store<Tokens>(in tokens: inout Tokens) {}

  /// Unavailable; use ``store(in:)``.
  @available(*, unavailable, renamed: "store(in:)")
  public func addDisposableTo(_ bag: SubscriptionBag) {}

  /// Unavailable; use ``store(in:)``.
  @available(*, unavailable, renamed: "store(in:)")
  public func disposed(by bag: SubscriptionBag) {}
}

/// Unavailable; use ``SubscriptionBag`` instead of a set.
@available(
  *, unavailable,
  message: "Use a 'SubscriptionBag' instead of a set, and 'store(in: bag)'."
)
extension Subscription: Hashable {
  /// Unavailable; see the conformance.
  public static func == (left: Subscription, right: Subscription) -> Bool { left === right }

  /// Unavailable; see the conformance.
  public func hash(into hasher: inout Hasher) {}
}
