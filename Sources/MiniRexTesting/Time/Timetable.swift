internal import MiniRex

/// An action or a task with a pending deadline.
struct Sleeper: Sendable {
  struct Key: Comparable, Sendable {
    let deadline: ManualClock.Instant
    let number: Int

    static func < (one: Key, other: Key) -> Bool {
      (one.deadline, one.number) < (other.deadline, other.number)
    }
  }

  let key: Key
  let wake: @Sendable () -> Void
}

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
  /// The sleepers, latest deadline first.
  private var sleepers: [Sleeper] = []
  private var lastNumber = 0
  private var leader: ThreadID?
  private var followers: [Follower] = []
  private var watchers: [Watcher] = []

  var sleeperCount: Int { sleepers.count }

  var nextDeadline: ManualClock.Instant? { sleepers.last?.key.deadline }

  mutating func key(for deadline: ManualClock.Instant) -> Sleeper.Key {
    lastNumber += 1
    return Sleeper.Key(deadline: deadline, number: lastNumber)
  }

  /// Adds a sleeper.
  ///
  /// - Returns: The requests to resume, because this number of sleepers is reached.
  mutating func add(_ sleeper: Sleeper) -> [SleepRequest] {
    sleepers.insert(sleeper, at: index(of: sleeper.key))
    let served = watchers.filter { $0.count <= sleepers.count }
    watchers.removeAll { $0.count <= sleepers.count }
    return served.map(\.request)
  }

  mutating func remove(_ key: Sleeper.Key) -> Sleeper? {
    let index = index(of: key)
    guard index < sleepers.count, sleepers[index].key == key else { return nil }
    return sleepers.remove(at: index)
  }

  /// Returns the index of the key, or of its insertion.
  private func index(of key: Sleeper.Key) -> Int {
    var range = 0..<sleepers.count
    while !range.isEmpty {
      let middle = range.lowerBound + range.count / 2
      if key < sleepers[middle].key {
        range = middle + 1..<range.upperBound
      } else {
        range = range.lowerBound..<middle
      }
    }
    return range.lowerBound
  }

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
      if let deadline = nextDeadline, deadline <= limit, let sleeper = sleepers.popLast() {
        now = max(now, deadline)
        return .wake(sleeper.wake)
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
