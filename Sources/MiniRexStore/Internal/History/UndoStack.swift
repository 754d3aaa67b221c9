import MiniRex

/// The states before and after the current state.
///
/// Returns dropped states to the caller, because releasing them can run user code.
struct UndoStack<State: Sendable>: Sendable {
  private let limit: Int
  private var past = Queue<State>()
  private(set) var present: State
  private var future: [State] = []

  /// - Parameter limit: The maximum number of states to undo to, at least 1.
  init(_ present: State, limit: Int) {
    self.present = present
    self.limit = limit
  }

  var ways: UndoAvailability { UndoAvailability(back: past.count > 0, forth: !future.isEmpty) }

  /// Records a commit, which drops the states to redo.
  mutating func commit(_ state: State, isRemembered: Bool) -> [State] {
    var dropped = future
    future = []
    if isRemembered {
      past.append(present)
      if past.count > limit, let oldest = past.popFirst() { dropped.append(oldest) }
      present = state
    } else {
      dropped.append(replace(state))
    }
    return dropped
  }

  /// Replaces the current state without a step.
  ///
  /// - Returns: The previous state.
  mutating func replace(_ state: State) -> State {
    var state = state
    swap(&present, &state)
    return state
  }

  /// Undoes or redoes one step.
  ///
  /// - Returns: The new current state, or `nil` if the direction is unavailable.
  mutating func go(_ way: UndoDirection) -> State? {
    switch way {
    case .back:
      guard let state = past.popLast() else { return nil }
      future.append(replace(state))
    case .forth:
      guard let state = future.popLast() else { return nil }
      past.append(replace(state))
    }
    return present
  }
}

enum UndoDirection {
  case back, forth
}

/// The available directions of a history.
struct UndoAvailability: Hashable, Sendable {
  var back = false
  var forth = false
}
