internal import MiniRex

/// The reason why a replica sends an action.
enum UndoStep: Sendable {
  case action
  case undo
  case redo
}

/// An inverse action that was not sent.
struct UndoFailure: Error {}

/// The inverse actions of one undo log.
///
/// `add` runs with exclusive access to the store, so the inverse actions have the order of the commits.
final class UndoRecord<State: Sendable, Action: Sendable>: Sendable {
  struct Inverse: Sendable {
    /// The number of the action to revert.
    let number: Int
    let action: Action
  }

  private struct Inverses: Sendable {
    var back: [Inverse] = []
    var forth: [Inverse] = []
  }

  let canUndo = PublishedProperty(false)
  let canRedo = PublishedProperty(false)
  private let inverse: @Sendable (State, Action) -> Action?
  private let limit: Int
  private let inverses = Lock(Inverses())

  init(limit: Int, _ inverse: @escaping @Sendable (State, Action) -> Action?) {
    (self.limit, self.inverse) = (limit, inverse)
  }

  /// Removes the last inverse of a step.
  ///
  /// A rejection on the replica's queue may remove inverses concurrently.
  func take(_ step: UndoStep) -> Inverse? {
    inverses.withLock { step == .undo ? $0.back.popLast() : $0.forth.popLast() }
  }

  /// Restores an inverse that was not sent.
  func restore(_ inverse: Inverse, _ step: UndoStep) {
    inverses.withLock { all in
      if step == .undo { all.back.append(inverse) } else { all.forth.append(inverse) }
    }
  }

  /// Records an action that is about to change a state.
  func add(_ action: Action, number: Int, to state: State, as step: UndoStep) {
    // User code runs outside the lock.
    let inverse = inverse(state, action).map { Inverse(number: number, action: $0) }
    let released = inverses.withLock { all in
      let old = all
      if step == .action, inverse != nil { all.forth = [] }
      if let inverse {
        if step == .undo { all.forth.append(inverse) } else { all.back.append(inverse) }
      }
      if all.back.count > limit { all.back.removeFirst() }
      return old
    }
    withExtendedLifetime(released) {}
  }

  /// Removes the inverse of a rejected action.
  func remove(_ number: Int) {
    // The actions are released outside the lock.
    let released = inverses.withLock { all in
      let old = all
      all.back.removeAll { $0.number == number }
      all.forth.removeAll { $0.number == number }
      return old
    }
    withExtendedLifetime(released) {}
    publish()
  }

  func publish() {
    let (back, forth) = inverses.withLock { (!$0.back.isEmpty, !$0.forth.isEmpty) }
    if canUndo.value != back { canUndo.value = back }
    if canRedo.value != forth { canRedo.value = forth }
  }
}
