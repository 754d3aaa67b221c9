/// Decides, under the lock of a run of shared work, who waits for its start and who ends it.
///
/// It knows no callback and no update, so a test can search all of its states.
///
/// - `Stop`: what ends the work, known when its start has returned.
/// - `Joiner`: a thread that waits for that.
/// - `Leaver`: somebody who waits until the work has come back.
package struct RunState<Stop, Joiner, Leaver> {
  /// - starting: by that thread. Next: working or abandoned.
  /// - working: Next: over.
  /// - abandoned: it is over, but its start has not returned. Next: over.
  /// - over: finished, ended or cancelled.
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

  /// The thread for which whoever has joined on this thread has to wait.
  package func starter(for thread: ThreadID) -> ThreadID? {
    guard case .starting(let starter) = phase, starter != thread else { return nil }
    return starter
  }

  /// True if nobody is left.
  package mutating func leave() -> Bool {
    members -= 1
    return members == 0
  }

  /// The start has returned.
  ///
  /// - Returns: Those who need not wait any longer; and, if the work has to be ended at once, for
  ///   whom.
  package mutating func attach(_ stop: Stop) -> (joiners: [Joiner], leavers: [Leaver]?) {
    if case .abandoned(let leavers) = phase {
      phase = .over
      return ([], leavers)
    }
    phase = .working(stop)
    return (takeJoiners(), nil)
  }

  /// The run is over, whoever says so.
  ///
  /// - Parameter leaver: Whoever waits for the work, and has to be told by `attach` if it cannot be
  ///   ended now; see `isStarting`.
  /// - Returns: Those who need not wait any longer, and what has to be ended.
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

  /// True if `attach` is still to come.
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

/// Which thread waits for which, so that they never wait for each other in a circle.
package struct WaitGraph: Hashable, Sendable {
  private var starters: [ThreadID: ThreadID] = [:]

  package init() {}

  /// - Returns: False if the starter waits for this thread, directly or not.
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
