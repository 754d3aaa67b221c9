public import MiniRex

// What histories have to do with commits. All of it is done with exclusive access, so that nobody undoes
// anything but the last commit.
extension StoreStorage {
  /// - Parameter limit: How many states are remembered.
  func history<Part, PartAction>(
    of part: HistoryPart<State, Action, Part, PartAction>, limit: Int,
    where isRemembered: @escaping @Sendable (Commit<Part, PartAction>) -> Bool
  ) -> AnyHistoryHook {
    withAccess {
      // It leaves the store as a part does.
      _ = madeParts
      var present: Part?
      if limit > 0, part.place.entry?.isGone != true { present = unsafe part.place.read(state) }
      let states = present.map { HistoryStates($0, limit: limit) }
      let history = HistoryMemory(of: self, part, states, where: isRemembered)
      if states != nil {
        unsafe histories.append(history)
        unsafe chain.hasHistories = true
      }
      return history
    }
  }

  /// What is dropped is released when the state is let go.
  @usableFromInline
  func remember(_ commit: Commit<State, Action>) {
    unsafe book.release(forgetAbandoned())
    unsafe book.release(histories.compactMap { $0.remember(commit) })
  }

  /// - Returns: Those of which something has changed that others are told.
  @usableFromInline
  func settleHistories() -> [HistoryHook<State, Action>] {
    unsafe histories.filter { $0.settle() }
  }

  func forgetHistories() {
    unsafe histories.removeAll { unsafe $0.isOver }
    unsafe chain.hasHistories = !histories.isEmpty
  }

  /// The only change of a chain, so far: who remembers may have sent something.
  @usableFromInline
  func finishRemembering(
    _ number: Int, _ cause: CommitCause<Action>, on thread: ThreadID
  ) -> EffectGroup? {
    note(number, cause)
    if unsafe chain.hasParts { endOrphansInChain() }
    handleQueued()
    return letGo(on: thread)
  }
}
