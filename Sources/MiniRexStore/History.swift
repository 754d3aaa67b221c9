public import MiniRex

/// The undo history of a store or of a scope.
///
/// ```swift
/// let history = History(of: store)
/// store.send(.typed("Milk"))
/// store.send(.typed("Bread"))
/// history.undo()
/// print(store.state.lines)  // ["Milk"]
/// ```
///
/// A history records each commit before the new state is readable. Therefore, ``undo()`` on any
/// thread undoes the last commit, even if that commit is not published yet. The history retains the
/// store, and recording stops when the history is released.
///
/// The history of a scope restores only the child state. If the child is `Equatable`, a commit that
/// does not change it is ignored: nothing is recorded, and redo stays available. After the child is
/// removed, nothing can be undone.
///
/// The recorded states share storage with the current state, so changing shared storage copies it.
/// For example, appending to an array of 1,000,000 elements is O(n) while a history holds the
/// previous array.
///
/// Each commit of the store costs O(histories). The history of an `Equatable` child compares the
/// child. The history of a row compares the row only if the commit changed it.
public final class History: Sendable {
  private let memory: AnyHistoryHook
  private let store: any AnyObject & Sendable

  /// Emits whether a commit can be undone: the current value, then each change.
  public let canUndo: PublishedValue<Bool>

  /// Emits whether an undo can be reverted: the current value, then each change.
  public let canRedo: PublishedValue<Bool>

  /// Creates a history and starts recording.
  ///
  /// ```swift
  /// let history = History(of: store, limit: 50) { commit in
  ///   if case .action(.moved) = commit.cause { false } else { true }
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - store: The store or the scope to record.
  ///   - limit: The maximum number of commits to undo. The default is 100, and 0 records nothing.
  ///     Traps if less than 0.
  ///   - isRemembered: Returns `true` if a commit is an undo step of its own. Otherwise, the commit
  ///     is undone together with the previous step. It runs with exclusive access to the state,
  ///     under the same restrictions as a reducer. For a scope, the cause is always
  ///     ``CommitCause/parent``.
  public init<State, Action>(
    of store: Store<State, Action>, limit: Int = 100,
    where isRemembered: @escaping @Sendable (Commit<State, Action>) -> Bool = { _ in true }
  ) {
    if limit < 0 {
      misuse("A History requires a limit of 0 or more, not \(limit). Use 0 to record nothing.")
    }
    self.store = store
    let memory =
      switch store.backing {
      case .root(let storage): storage.history(of: .root, limit: limit, where: isRemembered)
      case .scope(let scope): scope.history(limit: limit, where: isRemembered)
      }
    self.memory = memory
    canUndo = memory.publisher(of: \.back, "canUndo", of: store.lineage)
    canRedo = memory.publisher(of: \.forth, "canRedo", of: store.lineage)
  }

  deinit { memory.end() }

  /// Restores the state before the last recorded commit, as a commit with the cause
  /// ``CommitCause/restored``.
  ///
  /// Cancels the effects of every child that the restored state does not contain. Callbacks can
  /// call this method. Traps inside the store's own reducer.
  ///
  /// - Returns: `false` if there is nothing to undo.
  @discardableResult
  public func undo() -> Bool { memory.undo() }

  /// Reverts the last ``undo()``, as a commit.
  ///
  /// Any commit after the undo discards the states to redo. For the history of a scope, only commits that
  /// change the child count.
  ///
  /// - Returns: `false` if there is nothing to redo.
  @discardableResult
  public func redo() -> Bool { memory.redo() }
}
