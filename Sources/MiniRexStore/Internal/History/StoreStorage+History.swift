public import MiniRex

// Histories record commits with exclusive access, so an undo always undoes the last commit.
extension StoreStorage {
  /// - Parameter limit: The maximum number of recorded states.
  func history<Child, ChildAction>(
    of scope: HistoryScope<State, Action, Child, ChildAction>, limit: Int,
    where isRemembered: @escaping @Sendable (Commit<Child, ChildAction>) -> Bool
  ) -> AnyHistoryHook {
    withAccess {
      if inside.isReplicated {
        misuse(
          "'History' cannot restore the state of a replica, because other processes would keep theirs. "
            + "Use 'UndoLog(of: replica)', which sends the inverse action.")
      }
      // Releasing a history uses the deferred cleanup of scopes.
      _ = madeRegistry
      var present: Child?
      if limit > 0, scope.place.entry?.isGone != true { present = scope.place.read(state) }
      let states = present.map { UndoStack($0, limit: limit) }
      let history = HistoryStorage(of: self, scope, states, where: isRemembered)
      if states != nil {
        inside.histories.append(history)
        inside.chain.duties.set(.records, true)
      }
      return history
    }
  }

  /// Records a commit.
  ///
  /// Dropped states are released after the state is readable.
  @usableFromInline
  func remember(_ commit: Commit<State, Action>) {
    inside.effects.release(forgetAbandoned())
    var released: [Any] = []
    for history in inside.histories where history.remember(commit, &released) {
      inside.unsettled.append(history)
    }
    inside.effects.release(released)
  }

  /// Stores the availability of the histories that a commit of the chain has changed.
  ///
  /// - Returns: The histories whose availability must be published.
  @usableFromInline
  func settleHistories() -> [any HistoryHook<State, Action>] {
    var changed: [any HistoryHook<State, Action>] = []
    swap(&changed, &inside.unsettled)
    return changed.filter { $0.settle() }
  }

  func forgetHistories() {
    inside.histories.removeAll { $0.isOver }
    inside.chain.duties.set(.records, !inside.histories.isEmpty)
  }

  /// Finishes a chain of one commit, and handles actions that a history's predicate has sent.
  @usableFromInline
  func finishRemembering(
    _ number: Int, _ cause: CommitCause<Action>, on thread: ThreadID
  ) -> StoreTask {
    note(number, cause)
    if inside.chain.duties.contains(.checksChildren) { cancelOrphansInChain() }
    handleQueued()
    return releaseState(on: thread)
  }
}
