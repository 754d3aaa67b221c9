/// Decides, under the lock of a run of shared work, which threads wait for its start and which one
/// ends it.
///
/// It knows no callbacks and no updates, so a test can search all of its states.
///
/// - `Stop`: the subscription that stops the work, known after the start.
/// - `Joiner`: a thread that waits for the start.
/// - `Leaver`: a caller that waits until the work has returned.
package struct RunState<Stop, Joiner, Leaver> {
  /// - starting: on the given thread. → working, abandoned
  /// - working → over
  /// - abandoned: over, but its start has not returned. → over
  /// - over: finished, ended, or canceled.
  package enum Phase {
    case starting(ThreadID)
    case working(Stop)
    case abandoned([Leaver])
    case over
  }

  package var phase: Phase
  package var members = 1
  package var joiners: [Joiner] = []

  package init(startedBy thread: ThreadID) {
    phase = .starting(thread)
  }

  /// Returns the thread whose start a joining thread must wait for.
  package func starter(for thread: ThreadID) -> ThreadID? {
    guard case .starting(let starter) = phase, starter != thread else { return nil }
    return starter
  }

  /// Returns `true` if no subscriber is left.
  package mutating func leave() -> Bool {
    members -= 1
    return members == 0
  }

  /// Marks the start as returned.
  ///
  /// - Returns: The threads that stop waiting, and, if the work must end now, the callers that wait
  ///   for its end.
  package mutating func attach(_ stop: Stop) -> (joiners: [Joiner], leavers: [Leaver]?) {
    if case .abandoned(let leavers) = phase {
      phase = .over
      return ([], leavers)
    }
    phase = .working(stop)
    return (takeJoiners(), nil)
  }

  /// Marks the run as over.
  ///
  /// - Parameter leaver: A caller that waits for the work. `attach` returns it if the work cannot
  ///   end now, see `isStarting`.
  /// - Returns: The threads that stop waiting, and the subscription that stops the work.
  package mutating func end(for leaver: Leaver?) -> (joiners: [Joiner], stop: Stop?) {
    let leavers = leaver.map { [$0] } ?? []
    switch phase {
    case .starting:
      phase = .abandoned(leavers)
      return (takeJoiners(), nil)
    case .abandoned(let others):
      phase = .abandoned(others + leavers)
      return ([], nil)
    case .working(let stop):
      phase = .over
      return ([], stop)
    case .over:
      return ([], nil)
    }
  }

  /// `true` if `attach` has not been called yet.
  package var isStarting: Bool {
    switch phase {
    case .starting, .abandoned: true
    case .working, .over: false
    }
  }

  private mutating func takeJoiners() -> [Joiner] {
    defer { joiners = [] }
    return joiners
  }
}

extension RunState.Phase: Equatable where Stop: Equatable, Leaver: Equatable {}
extension RunState.Phase: Hashable where Stop: Hashable, Leaver: Hashable {}
extension RunState: Equatable where Stop: Equatable, Joiner: Equatable, Leaver: Equatable {}
extension RunState: Hashable where Stop: Hashable, Joiner: Hashable, Leaver: Hashable {}

/// The wait-for relation of threads.
///
/// It never contains a cycle.
package struct WaitForGraph: Hashable, Sendable {
  private var starters: [ThreadID: ThreadID] = [:]

  package init() {}

  /// Records that a thread waits for a starter, unless this would be a cycle.
  ///
  /// - Returns: `false` if the starter waits for this thread, directly or indirectly.
  package mutating func add(_ thread: ThreadID, waitingFor starter: ThreadID) -> Bool {
    var last = starter
    while let next = starters[last] {
      if next == thread { return false }
      last = next
    }
    starters[thread] = starter
    return true
  }

  package mutating func remove(_ thread: ThreadID) {
    starters[thread] = nil
  }
}
