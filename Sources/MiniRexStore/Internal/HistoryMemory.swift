import MiniRex

/// What a history remembers of a store, or of a part of it.
///
/// Unchecked: `kept` is guarded by the lock of the delivery, so that whoever releases the history need
/// not wait for the state; `isRestoring` by exclusive access to the store. The history keeps the store,
/// so the storage is there.
final class HistoryMemory<Root: Sendable, RootAction: Sendable, State: Sendable, Action: Sendable>:
  HistoryHook<Root, RootAction>, @unchecked Sendable
{
  typealias Predicate = @Sendable (Commit<State, Action>) -> Bool

  private struct Kept: Sendable {
    var states: HistoryStates<State>
    let isRemembered: Predicate
  }

  private unowned let storage: StoreStorage<Root, RootAction>
  private let part: HistoryPart<Root, RootAction, State, Action>
  /// `nil` if there is nothing to remember, and once there is nothing more.
  @exclusivity(unchecked) private var kept: Kept?
  @exclusivity(unchecked) private var isRestoring = false

  /// - Parameter states: `nil` to remember nothing.
  init(
    of storage: StoreStorage<Root, RootAction>,
    _ part: HistoryPart<Root, RootAction, State, Action>,
    _ states: HistoryStates<State>?, where isRemembered: @escaping Predicate
  ) {
    self.storage = storage
    self.part = part
    unsafe kept = states.map { Kept(states: $0, isRemembered: isRemembered) }
  }

  override func end() {
    super.end()
    let old = takeKept()
    withExtendedLifetime(old) {}
    storage.abandon(.history(self))
  }

  private func takeKept() -> Kept? {
    delivery.lock.withLock { _ in unsafe kept.take() }
  }

  override func remember(_ commit: Commit<Root, RootAction>) -> Any? {
    if unsafe isRestoring {
      unsafe isRestoring = false
      return nil
    }
    let kept = delivery.lock.withLock { _ in
      unsafe self.kept.map { ($0.states.present, $0.isRemembered) }
    }
    guard let (old, isRemembered) = kept else { return nil }
    guard let new = part.commit(commit) else { return (kept, takeKept()) }
    let isChange = part.changeTest.map { $0(old, new.state) } ?? true
    let isNext = isChange && isRemembered(new)
    let dropped = delivery.lock.withLock { _ in
      isChange
        ? unsafe self.kept?.states.commit(new.state, isRemembered: isNext)
        : unsafe (self.kept?.states.replace(new.state)).map { [$0] }
    }
    return (kept, dropped)
  }

  override func settle() -> Bool {
    settle(delivery.lock.withLock { _ in unsafe kept?.states.ways } ?? HistoryWays())
  }

  override func undo() -> Bool { restore(.back) }

  override func redo() -> Bool { restore(.forth) }

  private func restore(_ way: HistoryWay) -> Bool {
    let thread = ThreadID.current
    storage.enterOutside(on: thread)
    let state = delivery.lock.withLock { _ in unsafe kept?.states.go(way) }
    guard let state else {
      storage.leave()
      return false
    }
    let old = unsafe storage.state[keyPath: part.place.path]
    defer { withExtendedLifetime(old) {} }
    unsafe storage.state[keyPath: part.place.path] = state
    unsafe part.last?.remember(state, storage.chain.number + 1)
    unsafe isRestoring = true
    storage.commit(.restored, on: thread)
    return true
  }
}
