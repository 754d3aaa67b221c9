internal import MiniRex

/// Decides which action runs next.
///
/// Guarded by the lock of the manual clock.
struct Timetable {
  private struct Follower {
    let goal: ManualClock.Instant
    let resume: @Sendable () -> Void
  }

  private struct Watcher {
    let count: Int
    let request: SleepRequest
  }

  /// The role of an advance among concurrent advances.
  enum Role {
    /// Runs the due actions until `rest`.
    case lead
    /// Does nothing, because this thread is the leader.
    case nest
    /// Waits until the leader on another thread resumes it.
    case follow
  }

  enum Step {
    case wake(@Sendable () -> Void)
    case resume([@Sendable () -> Void])
    case rest
  }

  private(set) var now = ManualClock.Instant(offset: .zero)
  /// The time at the end of the current advance.
  private(set) var goal = ManualClock.Instant(offset: .zero)
  private var sleepers = Sleepers()
  private var leader: ThreadID?
  private var followers: [Follower] = []
  private var watchers: [Watcher] = []

  var sleeperCount: Int { sleepers.count }

  var nextDeadline: ManualClock.Instant? { sleepers.nextDeadline }

  mutating func key(for deadline: ManualClock.Instant) -> Sleepers.Key {
    sleepers.key(for: deadline)
  }

  /// Adds a sleeper.
  ///
  /// - Returns: The requests to resume, because this number of sleepers is reached.
  mutating func add(_ key: Sleepers.Key, wake: @escaping Sleepers.Wake) -> [SleepRequest] {
    sleepers.add(key, wake: wake)
    let served = watchers.filter { $0.count <= sleepers.count }
    watchers.removeAll { $0.count <= sleepers.count }
    return served.map(\.request)
  }

  mutating func remove(_ key: Sleepers.Key) -> Sleepers.Wake? { sleepers.remove(key) }

  /// Returns `false` if the number of sleepers is already reached.
  mutating func watch(_ request: SleepRequest, for count: Int) -> Bool {
    if count <= sleepers.count { return false }
    watchers.append(Watcher(count: count, request: request))
    return true
  }

  mutating func forget(_ request: SleepRequest) {
    watchers.removeAll { $0.request === request }
  }

  /// Begins an advance, or extends the current advance.
  ///
  /// - Parameter resume: Called for a follower, when its goal is reached.
  mutating func begin(
    to goal: ManualClock.Instant, from thread: ThreadID, resume: @escaping @Sendable () -> Void
  ) -> Role {
    self.goal = goal
    if leader == nil {
      leader = thread
      return .lead
    }
    if leader == thread { return .nest }
    followers.append(Follower(goal: goal, resume: resume))
    return .follow
  }

  mutating func next() -> Step {
    while true {
      let limit = followers.first.map { min($0.goal, goal) } ?? goal
      if let (deadline, wake) = sleepers.popFirst(until: limit) {
        now = max(now, deadline)
        return .wake(wake)
      }
      now = limit
      if !followers.isEmpty {
        // The goals of followers never decrease, so the reached goals are a prefix.
        let arrived = followers.prefix { $0.goal <= now }
        followers.removeFirst(arrived.count)
        return .resume(arrived.map(\.resume))
      }
      if now == goal {
        leader = nil
        return .rest
      }
    }
  }
}
