/// The tasks that are suspended in `send`, and the loops for which they are suspended.
///
/// A sender that waits for a loop waits for the task of that loop. If that task waits for the
/// sender, directly or through further tasks, they would deadlock. The sender is then exempt. Used
/// on the suspending path only. The lock is the innermost one.
@usableFromInline
enum SuspendedTasks {
  private static let valves = Lock<[UInt: SendValve]>([:])

  /// The identity of the current task, or 0.
  @usableFromInline
  static var current: UInt {
    unsafe withUnsafeCurrentTask { task in
      guard let task = unsafe task else { return 0 }
      return unsafe unsafeBitCast(task, to: UInt.self)
    }
  }

  static func add(_ task: UInt, at valve: SendValve) {
    if task != 0 { valves.withLock { $0[task] = valve } }
  }

  static func remove(_ task: UInt) {
    let valve = valves.withLock { $0.removeValue(forKey: task) }
    withExtendedLifetime(valve) {}
  }

  private static func valve(of task: UInt) -> SendValve? {
    if task == 0 { return nil }
    return valves.withLock { $0[task] }
  }

  /// `false` if the counter certainly waits for no sender.
  static func maySuspend(_ counter: InFlightCounter) -> Bool {
    if counter.root.isRelay { return true }
    let task = counter.loop
    return task != 0 && valves.withLock { $0[task] != nil }
  }

  /// Returns `true` if each hold of the valve waits for the task.
  static func isExempt(_ task: UInt, at valve: SendValve) -> Bool {
    if task == 0 { return false }
    var search = Search(task: task)
    return search.allWait(at: valve)
  }

  /// Admits the suspended senders that must not wait.
  static func resumeExempt(at valve: SendValve) {
    if valve.holders(while: maySuspend) == nil { return }
    for (place, sender) in valve.suspendedSenders where isExempt(sender.task, at: valve) {
      valve.admit(place)
    }
  }

  private struct Search {
    let task: UInt
    var visited: Set<UInt> = []

    mutating func allWait(at valve: SendValve) -> Bool {
      guard let holders = valve.holders(while: maySuspend) else { return false }
      return allWait(holders)
    }

    private mutating func allWait(_ holders: [InFlightCounter], behind count: Int = 0) -> Bool {
      if holders.isEmpty { return false }
      for holder in holders where !waits(holder, behind: count) { return false }
      return true
    }

    /// - Parameter count: The updates on their way to the counter.
    mutating func waits(_ counter: InFlightCounter, behind count: Int = 0) -> Bool {
      if let holders = counter.relayedHolders(adding: count) {
        return allWait(holders, behind: count + counter.total)
      }
      let loop = counter.loop
      if loop == task { return true }
      guard visited.insert(loop).inserted, let valve = SuspendedTasks.valve(of: loop) else {
        return false
      }
      for holder in valve.holders where waits(holder) { return true }
      return false
    }
  }
}
