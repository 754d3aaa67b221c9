public import MiniRex

// Histories record commits with exclusive access, so an undo always undoes the last commit.
extension StoreStorage {
  /// - Parameter limit: The maximum number of recorded states.
  func history<Part, PartAction>(
    of part: HistoryScope<State, Action, Part, PartAction>, limit: Int,
    where isRemembered: @escaping @Sendable (Commit<Part, PartAction>) -> Bool
  ) -> AnyHistoryHook {
    withAccess {
      if unsafe isReplicated {
        misuse(
          "'History' cannot restore the state of a replica, because other processes would keep theirs. "
            + "Use 'UndoLog(of: replica)', which sends the inverse action.")
      }
      // Releasing a history uses the deferred cleanup of scopes.
      _ = madeParts
      var present: Part?
      if limit > 0, part.place.entry?.isGone != true { present = unsafe part.place.read(state) }
      let states = present.map { UndoStack($0, limit: limit) }
      let history = HistoryStorage(of: self, part, states, where: isRemembered)
      if states != nil {
        unsafe histories.append(history)
        unsafe chain.hasHistories = true
      }
      return history
    }
  }

  /// Records a commit.
  ///
  /// Dropped states are released after the state is readable.
  @usableFromInline
  func remember(_ commit: Commit<State, Action>) {
    unsafe book.release(forgetAbandoned())
    var released: [Any] = []
    for history in unsafe histories where history.remember(commit, &released) {
      unsafe unsettled.append(history)
    }
    unsafe book.release(released)
  }

  /// - Returns: The histories whose availability must be published.
  @usableFromInline
  func settleHistories() -> [HistoryHook<State, Action>] {
    var changed: [HistoryHook<State, Action>] = []
    unsafe swap(&changed, &unsettled)
    return changed.filter { $0.settle() }
  }

  func forgetHistories() {
    unsafe histories.removeAll { unsafe $0.isOver }
    unsafe chain.hasHistories = !histories.isEmpty
  }

  /// Finishes a chain of one commit, and handles actions that a history's predicate has sent.
  @usableFromInline
  func finishRemembering(
    _ number: Int, _ cause: CommitCause<Action>, on thread: ThreadID
  ) -> StoreTask {
    note(number, cause)
    if unsafe chain.hasParts { cancelOrphansInChain() }
    handleQueued()
    return releaseState(on: thread)
  }
}
