package import MiniRex

extension Store {
  /// A Boolean value that indicates whether the store is a scope of another store.
  package var isScope: Bool { root == nil }

  /// Identifies the root store of a scope, or the store itself, while it is in memory.
  package var rootIdentity: ObjectIdentifier { ObjectIdentifier(host) }

  /// The number of the last commit.
  package var lastNumber: Int {
    switch backing {
    case .root(let storage): storage.lastNumber
    case .scope: misuse("A scope has no commit numbers. Use the numbers of its parent.")
    }
  }

  /// The current state, with the number of the last commit.
  package var lastCommit: Commit<State, Action> {
    guard case .root(let storage) = backing else {
      misuse("A scope has no commit numbers. Use the numbers of its parent.")
    }
    return storage.lastCommit
  }

  /// The commits that wait for their delivery, oldest first, and the first values of new subscribers.
  package var queuedCommits: [Commit<State, Action>] {
    guard case .root(let storage) = backing else { return [] }
    return storage.delivery.queuedUpdates.compactMap { event in
      if case .committed(let commit) = event { commit } else { nil }
    }
  }

  /// Emits each later commit, and returns the current state with the number of the last commit.
  ///
  /// No thread has to deliver that state.
  ///
  /// - Parameter prepare: A closure that is called with the number of the last commit, before `receive` is called. It must
  ///   not use the store.
  package func subscribeToLaterCommits(
    after prepare: (Int) -> Void, _ receive: @escaping @Sendable (Commit<State, Action>) -> Void
  ) -> (Commit<State, Action>, Subscription) {
    guard case .root(let storage) = backing else {
      misuse("A scope has no commit numbers. Use the numbers of its parent.")
    }
    return storage.subscribeToLaterCommits(after: prepare, receive)
  }

  /// Emits the current state with the number of the last commit, then each later commit.
  package func subscribeToCommits(_ receive: @escaping @Sendable (Commit<State, Action>) -> Void)
    -> Subscription
  {
    backing.subscribeToCommits(receive)
  }
}

extension StoreBacking {
  func subscribeToCommits(_ receive: @escaping @Sendable (Commit<State, Action>) -> Void)
    -> Subscription
  {
    switch self {
    case .root(let storage): storage.subscribeToCommits(receive)
    case .scope(let scope): scope.subscribeToCommits(receive)
    }
  }
}
