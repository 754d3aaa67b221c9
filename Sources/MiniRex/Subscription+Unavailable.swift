// How tokens are kept elsewhere, as in `Publisher+Unavailable`.

extension Subscription {
  /// Advises.
  @available(
    *, unavailable,
    message: "make a 'SubscriptionBag' in place of the set, and write 'store(in: bag)'"
  )
  public func store<Tokens>(in tokens: inout Tokens) {}

  /// Advises.
  @available(*, unavailable, renamed: "store(in:)")
  public func addDisposableTo(_ bag: SubscriptionBag) {}

  /// Advises.
  @available(*, unavailable, renamed: "store(in:)")
  public func disposed(by bag: SubscriptionBag) {}
}
