internal import MiniRex
internal import Synchronization

/// What a store needs once somebody wants a part of it.
///
/// Unchecked: `abandoned` has a lock of its own, the rest is guarded by exclusive access to the store.
@usableFromInline
final class StoreParts<State: Sendable>: @unchecked Sendable {
  /// The parts that may go, and somebody uses.
  @usableFromInline let table = PartTable<State>()
  @usableFromInline let scopes = ScopeCache()
  @usableFromInline let whole = PartPlace<State, State>.whole
  private let abandoned = Lock<[Abandoned]>([])
  private let hasAbandoned = Atomic(false)

  @usableFromInline
  init() {}

  func abandon(_ thing: Abandoned) {
    abandoned.withLock { $0.append(thing) }
    hasAbandoned.store(true, ordering: .releasing)
  }

  /// With exclusive access.
  ///
  /// - Returns: What is to be released when the state is let go.
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
