public import MiniRex

/// A subscriber that receives commits until its child is removed.
@usableFromInline
struct ScopeSubscriber<State: Sendable, Action: Sendable>: Sendable {
  /// Cancels the subscription.
  ///
  /// `nil` if the child is not removable.
  @usableFromInline let cancellation: EarlyCancellation?
  @usableFromInline let callback: @Sendable (StoreEvent<State, Action>) -> Void

  @inlinable
  init(
    cancellation: EarlyCancellation?,
    callback: @escaping @Sendable (StoreEvent<State, Action>) -> Void
  ) {
    self.cancellation = cancellation
    self.callback = callback
  }

  @inlinable
  func attach(_ subscription: Subscription) -> Subscription {
    cancellation?.attach(subscription) ?? subscription
  }
}
