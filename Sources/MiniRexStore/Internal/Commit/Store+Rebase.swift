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

  /// Reduces an action with exclusive access, unless a closure refuses it.
  ///
  /// Unlike `send { … }`, it needs no type for the error, so code that does not know the types of the store looks up
  /// fewer types at run time. Traps inside the store's own reducer, and for a scope.
  ///
  /// - Parameter refuses: A closure that reads the state. Traps if it uses the store.
  /// - Returns: `false` if it was refused, and nothing was committed.
  package func send(_ action: Action, unless refuses: (State) -> Bool) -> Bool {
    guard let root else { misuse("A scope cannot be replicated.") }
    return root.use { $0.send(action, to: self, unless: refuses) }
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
  func send(
    _ action: Action, to store: Store<State, Action>, unless refuses: (State) -> Bool
  ) -> Bool {
    defer { extendLifetime(store) }
    let thread = ThreadID.current
    if !enter(on: thread) { refuseReading() }
    if reading({ withState(refuses) }) {
      leaveUnchanged(on: thread)
      return false
    }
    _ = reduceOutside(action, on: thread)
    return true
  }

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
