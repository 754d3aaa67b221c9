import MiniRex

/// The recorded scope of a store's state, and its view of commits.
struct HistoryScope<Root: Sendable, RootAction: Sendable, State: Sendable, Action: Sendable>:
  Sendable
{
  let place: ChildPath<Root, State>
  /// The last seen state of a removable child.
  let last: LastSeenState<State>?
  /// Compares the child before and after a commit.
  ///
  /// `nil` if every commit counts.
  let changeTest: ChangeTest<State>?
  /// `true` if commits that do not change the child are ignored.
  var isComparable: Bool { changeTest != nil && State.self is any Equatable.Type }
  /// Returns `nil` if the child was removed.
  let commit: @Sendable (Commit<Root, RootAction>) -> Commit<State, Action>?
}

extension HistoryScope where State == Root, Action == RootAction {
  static var root: HistoryScope {
    HistoryScope(place: .root, last: nil, changeTest: nil) { $0 }
  }
}

extension HistoryScope {
  /// The cause is `.parent`, because an action of the parent cannot be mapped back to an action of
  /// the child.
  init(of place: ChildPath<Root, State>, last: LastSeenState<State>?) {
    self.init(place: place, last: last, changeTest: ChangeTest()) { commit in
      if place.entry?.isGone == true { return nil }
      return place.read(commit.state).map {
        Commit(number: commit.number, cause: .parent, state: $0)
      }
    }
  }
}
