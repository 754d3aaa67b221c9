internal import MiniRex
internal import Synchronization

/// The bookkeeping of a store with scopes, used with exclusive access except for `abandon`.
@usableFromInline
final class ScopeRegistry<State: Sendable> {
  /// The removable children in use.
  @usableFromInline let table = PresenceTable<State>()
  @usableFromInline let scopes = ScopeCache()
  @usableFromInline let root = ChildPath<State, State>.root
  private let abandoned = Lock<[DeferredCleanup]>([])
  private let hasAbandoned = Atomic(false)

  @usableFromInline
  init() {}

  func abandon(_ thing: DeferredCleanup) {
    abandoned.withLock { $0.append(thing) }
    hasAbandoned.store(true, ordering: .releasing)
  }

  /// Performs the deferred cleanup.
  ///
  /// Needs exclusive access.
  ///
  /// - Returns: Objects to release after the state is released.
  @usableFromInline
  func forgetAbandoned() -> [Any] {
    if !hasAbandoned.load(ordering: .acquiring) { return [] }
    hasAbandoned.store(false, ordering: .relaxed)
    let things = abandoned.withLock { things in
      defer { things = [] }
      return things
    }
    return things + things.compactMap { $0.forget() }
  }
}
