package import MiniRex

extension Store {
  /// Whether it is a part of another store.
  package var isScope: Bool { root == nil }

  /// The number of the last commit.
  package var lastNumber: Int {
    switch backing {
    case .root(let storage): storage.lastNumber
    case .part: misuse("A scope has the numbers of its store.")
    }
  }

  /// Gives the state as it is, with the number of the last commit, then each commit from there on.
  package func follow(_ receive: @escaping @Sendable (Commit<State, Action>) -> Void)
    -> Subscription
  {
    switch backing {
    case .root(let storage): storage.follow(receive)
    case .part(let part): part.follow(receive)
    }
  }
}
