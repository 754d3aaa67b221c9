import MiniRex

/// The states that a history keeps, and what can be done with them.
///
/// What it drops it gives back, to be released where that may call out.
struct HistoryStates<State: Sendable>: Sendable {
  private let limit: Int
  private var past = Queue<State>()
  private(set) var present: State
  private var future: [State] = []

  /// - Parameter limit: How many states are kept besides the present one; at least 1.
  init(_ present: State, limit: Int) {
    self.present = present
    self.limit = limit
  }

  var ways: HistoryWays { HistoryWays(back: past.count > 0, forth: !future.isEmpty) }

  /// Whatever follows an undo makes what was undone unreachable.
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

  /// - Returns: What was the present state, of which the new one is no change.
  mutating func replace(_ state: State) -> State {
    var state = state
    swap(&present, &state)
    return state
  }

  /// - Returns: The new present state; `nil` if there is no way.
  mutating func go(_ way: HistoryWay) -> State? {
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

enum HistoryWay {
  case back, forth
}

/// Where a history can go.
struct HistoryWays: Hashable, Sendable {
  var back = false
  var forth = false
}
