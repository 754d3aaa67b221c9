internal import MiniRex

extension Store {
  /// Replaces the state with exclusive access, as at most one commit, and starts effects.
  ///
  /// Effects start after the commit is readable and published. Traps inside the store's own reducer, and for a scope.
  ///
  /// - Parameter change: A closure that changes the state. It returns the cause of the commit, or `nil` if it has not
  ///   changed the state.
  package func rebase(
    _ change: (inout State) -> (cause: CommitCause<Action>?, effects: [Effect<Action>])
  ) {
    guard case .root(let storage) = backing else { misuse("A scope cannot be rebased.") }
    storage.rebase(change)
    extendLifetime(self)
  }

  /// A Boolean value that indicates whether a log decides the actions of the store.
  ///
  /// The store then traps when a history or a journal would record it.
  package var isReplicated: Bool {
    get {
      guard case .root(let storage) = backing else { return false }
      return storage.withAccess { storage.inside.isReplicated }
    }
    set {
      guard case .root(let storage) = backing else { misuse("A scope cannot be replicated.") }
      storage.withAccess { storage.inside.isReplicated = newValue }
    }
  }
}

extension Effect {
  package var isNone: Bool { if case .none = kind { true } else { false } }
}

extension StoreStorage {
  func rebase(
    _ change: (inout State) -> (cause: CommitCause<Action>?, effects: [Effect<Action>])
  ) {
    let thread = ThreadID.current
    enterOutside(on: thread)
    let (cause, effects) = change(&state)
    if let cause {
      publish(cause)
      if inside.chain.duties.contains(.checksChildren) { cancelOrphansInChain() }
    }
    for effect in effects { reduceReturned(effect, nil) }
    handleQueued()
    _ = releaseState(on: thread)
  }
}
