/// An unused object that a thread with exclusive access removes.
@usableFromInline
enum DeferredCleanup: Sendable {
  case child(Presence)
  case scope(ScopeCache, ScopeKey)
  case listeners(any RowsDelivering, Presence)
  case history(AnyHistoryHook)

  /// Removes the object.
  ///
  /// Needs exclusive access.
  ///
  /// - Returns: An object to release after the state is released.
  func forget() -> Any? {
    switch self {
    case .child(let child): child.leave()
    case .scope(let cache, let key): cache.forget(key)
    case .listeners(let delivery, let child): return delivery.forget(child)
    case .history(let history): history.isOver = true
    }
    return nil
  }
}
