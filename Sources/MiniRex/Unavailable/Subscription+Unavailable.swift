// Names of other libraries for retaining a subscription. See `Publisher+Unavailable`.

extension Subscription {
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
