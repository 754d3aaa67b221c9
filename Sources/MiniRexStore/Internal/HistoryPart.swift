import MiniRex

/// What a history is about: a state, or a part of it, and how its commits are told.
struct HistoryPart<Root: Sendable, RootAction: Sendable, State: Sendable, Action: Sendable>:
  Sendable
{
  let place: PartPlace<Root, State>
  /// What the scope remembers, if the part may go.
  let last: PartMemory<State>?
  /// Finds out whether a commit of the whole is one of the part; `nil` if each is.
  let changeTest: ChangeTest<State>?
  /// `nil` if the part has gone.
  let commit: @Sendable (Commit<Root, RootAction>) -> Commit<State, Action>?
}

extension HistoryPart where State == Root, Action == RootAction {
  static var whole: HistoryPart {
    HistoryPart(place: .whole, last: nil, changeTest: nil) { $0 }
  }
}

extension HistoryPart {
  /// Actions cannot be read backwards, so the cause is the whole.
  init(of place: PartPlace<Root, State>, last: PartMemory<State>?) {
    self.init(place: place, last: last, changeTest: ChangeTest()) { commit in
      if place.entry?.isGone == true { return nil }
      return place.read(commit.state).map {
        Commit(number: commit.number, cause: .whole, state: $0)
      }
    }
  }
}
