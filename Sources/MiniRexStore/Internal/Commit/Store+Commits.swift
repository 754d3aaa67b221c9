package import MiniRex

extension Store {
  /// A Boolean value that indicates whether the store is a scope of another store.
  package var isScope: Bool { root == nil }

  /// The number of the last commit.
  package var lastNumber: Int {
    switch backing {
    case .root(let storage): storage.lastNumber
    case .part: misuse("A scope has no commit numbers. Use the numbers of its parent.")
    }
  }

  /// Emits the current state with the number of the last commit, then each later commit.
  package func subscribeToCommits(_ receive: @escaping @Sendable (Commit<State, Action>) -> Void)
    -> Subscription
  {
    switch backing {
    case .root(let storage): storage.subscribeToCommits(receive)
    case .part(let part): part.subscribeToCommits(receive)
    }
  }
}
