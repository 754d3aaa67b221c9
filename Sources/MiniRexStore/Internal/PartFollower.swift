public import MiniRex

/// Who is told of each commit until a part has gone.
@usableFromInline
struct PartFollower<State: Sendable, Action: Sendable>: Sendable {
  /// Ends the subscription; `nil` if the part is always there.
  @usableFromInline let fuse: Fuse?
  @usableFromInline let callback: @Sendable (StoreEvent<State, Action>) -> Void

  @inlinable
  init(fuse: Fuse?, callback: @escaping @Sendable (StoreEvent<State, Action>) -> Void) {
    self.fuse = fuse
    self.callback = callback
  }

  @inlinable
  func attach(_ token: Subscription) -> Subscription { fuse?.attach(token) ?? token }
}
