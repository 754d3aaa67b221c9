public import MiniRex

/// The last states of a store, and the way back to them.
///
/// ```swift
/// let history = History(of: store)
/// store.send(.typed("Milk"))
/// store.send(.typed("Bread"))
/// history.undo()
/// print(store.state.lines)  // ["Milk"]
/// ```
///
/// It begins to follow the store when it is made, and remembers what each commit has changed before anybody
/// can see it. So ``undo()``, on any thread, undoes the last commit, even one that has not been
/// told yet. It keeps the store, and ends when it is released.
///
/// The history of a scope restores the part and nothing else. A commit that leaves the part as it was, if
/// that is `Equatable`, is none of the part: it is not remembered, and what was undone can still be redone.
/// When the part has gone, nothing can be undone.
///
/// The states that it keeps share what they have in common, but what a commit changes it copies:
/// appending to an array of a million is O(n) while the array before is remembered.
public final class History: Sendable {
  private let memory: AnyHistoryHook
  private let store: any AnyObject & Sendable

  /// Whether there is something to undo: now, then whenever that changes.
  public let canUndo: PublishedValue<Bool>

  /// Whether there is something to redo: now, then whenever that changes.
  public let canRedo: PublishedValue<Bool>

  /// Begins to follow a store.
  ///
  /// ```swift
  /// let history = History(of: store, limit: 50) { commit in
  ///   if case .action(.moved) = commit.cause { false } else { true }
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - store: What is remembered: a store, or a part of one.
  ///   - limit: How many commits can be undone; with 0, nothing is remembered. A negative one stops the
  ///     program.
  ///   - isRemembered: Decides about each commit; one that is not remembered is undone together with
  ///     the one before. It is called while the state is being changed, so that what holds for
  ///     a reducer holds for it. That of a scope gets the cause ``CommitCause/whole``.
  public init<State, Action>(
    of store: Store<State, Action>, limit: Int = 100,
    where isRemembered: @escaping @Sendable (Commit<State, Action>) -> Bool = { _ in true }
  ) {
    if limit < 0 { misuse("The limit of a History is negative. Use 0 to remember nothing.") }
    self.store = store
    let memory =
      switch store.backing {
      case .root(let storage): storage.history(of: .whole, limit: limit, where: isRemembered)
      case .part(let part): part.history(limit: limit, where: isRemembered)
      }
    self.memory = memory
    canUndo = memory.publisher(of: \.back, "canUndo", of: store.lineage)
    canRedo = memory.publisher(of: \.forth, "canRedo", of: store.lineage)
  }

  deinit { memory.end() }

  /// Restores the state before the last commit that was remembered, as a commit with the cause
  /// ``CommitCause/restored``.
  ///
  /// Effects of parts that are no longer there end. Called inside the store's own reducer it stops the
  /// program; in a callback it is allowed.
  ///
  /// - Returns: False if there is nothing to undo.
  @discardableResult
  public func undo() -> Bool { memory.undo() }

  /// Restores the state that was there before the last ``undo()``, as a commit.
  ///
  /// Whatever was committed since makes it impossible.
  ///
  /// - Returns: False if there is nothing to redo.
  @discardableResult
  public func redo() -> Bool { memory.redo() }
}
