import MiniRex

/// The recorded states of a store or of a child.
///
/// Unchecked: the lock of the delivery guards `kept`, so a release of the history never waits for
/// the state. Exclusive access to the store guards `isRestoring` and `stamp`. The history retains
/// the store, and with it the storage.
final class HistoryStorage<Root: Sendable, RootAction: Sendable, State: Sendable, Action: Sendable>:
  AnyHistoryHook, HistoryHook, @unchecked Sendable
{
  typealias Predicate = @Sendable (Commit<State, Action>) -> Bool

  private struct Kept: Sendable {
    var states: UndoStack<State>
    let isRemembered: Predicate
  }

  private unowned let storage: StoreStorage<Root, RootAction>
  private let scope: HistoryScope<Root, RootAction, State, Action>
  /// `nil` if nothing is recorded, or after the child or the history was released.
  @safe @exclusivity(unchecked) private var kept: Kept?
  @safe @exclusivity(unchecked) private var isRestoring = false
  /// The stamp of the row's list at the last commit.
  @safe @exclusivity(unchecked) private var stamp: RowsStamp?

  /// - Parameter states: The states to start with, or `nil` to record nothing.
  init(
    of storage: StoreStorage<Root, RootAction>,
    _ scope: HistoryScope<Root, RootAction, State, Action>,
    _ states: UndoStack<State>?, where isRemembered: @escaping Predicate
  ) {
    self.storage = storage
    self.scope = scope
    kept = states.map { Kept(states: $0, isRemembered: isRemembered) }
  }

  override func end() {
    super.end()
    // A state may own the next history of a chain.
    var old = takeKept()
    ReleaseChain.release(&old)
    storage.abandon(.history(self))
  }

  private func takeKept() -> Kept? {
    delivery.lock.withLock { _ in kept.take() }
  }

  func remember(_ commit: Commit<Root, RootAction>, _ released: inout [Any]) -> Bool {
    if isRestoring {
      isRestoring = false
      return true
    }
    if scope.isComparable,
      let row = scope.place.child?.rowChange(since: stamp, in: commit.state)
    {
      stamp = row.stamp
      if !row.isChanged { return false }
    }
    let kept = delivery.lock.withLock { _ in
      self.kept.map { ($0.states.present, $0.isRemembered) }
    }
    guard let (old, isRemembered) = kept else { return false }
    guard let new = scope.commit(commit) else {
      released.append((kept, takeKept()))
      return true
    }
    let isChange = scope.changeTest.map { $0(old, new.state) } ?? true
    let isNext = isChange && isRemembered(new)
    let dropped = delivery.lock.withLock { _ in
      isChange
        ? self.kept?.states.commit(new.state, isRemembered: isNext)
        : (self.kept?.states.replace(new.state)).map { [$0] }
    }
    released.append((kept, dropped))
    return isChange
  }

  func settle() -> Bool {
    settle(delivery.lock.withLock { _ in kept?.states.ways } ?? UndoAvailability())
  }

  override func undo() -> Bool { restore(.back) }

  override func redo() -> Bool { restore(.forth) }

  private func restore(_ way: UndoDirection) -> Bool {
    let thread = ThreadID.current
    storage.enterOutside(on: thread, for: way == .back ? "undo()" : "redo()")
    let state = delivery.lock.withLock { _ in kept?.states.go(way) }
    guard let state else {
      storage.leave()
      return false
    }
    let old = storage.state[keyPath: scope.place.path]
    defer { withExtendedLifetime(old) {} }
    storage.state[keyPath: scope.place.path] = state
    scope.last?.remember(state, storage.inside.chain.number + 1)
    isRestoring = true
    storage.commit(.restored, on: thread)
    return true
  }
}
