internal import MiniRex

/// What waits for a deadline.
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

/// Decides, under the lock of a manual clock, what is called and when.
struct Timetable {
  private struct Follower {
    let goal: ManualClock.Instant
    let resume: @Sendable () -> Void
  }

  private struct Watcher {
    let count: Int
    let nap: Nap
  }

  /// What an advance is to do.
  enum Role {
    /// Call what is due, until `rest`.
    case lead
    /// Nothing: this thread leads already.
    case nest
    /// Wait to be resumed: another thread leads.
    case follow
  }

  enum Step {
    case wake(@Sendable () -> Void)
    case resume([@Sendable () -> Void])
    case rest
  }

  private(set) var now = ManualClock.Instant(offset: .zero)
  /// Where the advance that runs will end.
  private(set) var goal = ManualClock.Instant(offset: .zero)
  /// Latest first.
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

  /// - Returns: Those who have waited for so many sleepers.
  mutating func add(_ sleeper: Sleeper) -> [Nap] {
    sleepers.insert(sleeper, at: index(of: sleeper.key))
    let served = watchers.filter { $0.count <= sleepers.count }
    watchers.removeAll { $0.count <= sleepers.count }
    return served.map(\.nap)
  }

  mutating func remove(_ key: Sleeper.Key) -> Sleeper? {
    let index = index(of: key)
    guard index < sleepers.count, sleepers[index].key == key else { return nil }
    return sleepers.remove(at: index)
  }

  /// Where the key is, or would be.
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

  /// False if there are so many sleepers already.
  mutating func watch(_ nap: Nap, for count: Int) -> Bool {
    if count <= sleepers.count { return false }
    watchers.append(Watcher(count: count, nap: nap))
    return true
  }

  mutating func forget(_ nap: Nap) {
    watchers.removeAll { $0.nap === nap }
  }

  /// Begins an advance, or has the one that runs go on.
  ///
  /// - Parameter resume: Called for a follower only, when the goal is reached.
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
        // They follow in the order of their goals, which only grow.
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
