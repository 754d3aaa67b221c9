/// What nobody uses any more, and what is to be forgotten of it by whoever has the state next.
@usableFromInline
enum Abandoned: Sendable {
  case part(PartEntry)
  case scope(ScopeCache, ScopeKey)
  case listeners(any RowsFeeding, PartEntry)
  case history(AnyHistoryHook)

  /// Has exclusive access.
  ///
  /// - Returns: What is to be released after that.
  func forget() -> Any? {
    switch self {
    case .part(let part): part.leave()
    case .scope(let cache, let key): cache.forget(key)
    case .listeners(let feed, let part): return feed.forget(part)
    case .history(let history): unsafe history.isOver = true
    }
    return nil
  }
}
