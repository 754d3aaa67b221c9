/// The tasks that are suspended in `send`, and the loops for which they are suspended.
///
/// A sender that waits for a loop waits for the task of that loop. If that task waits for the
/// sender, directly or through further tasks, they would deadlock. The sender is then exempt. Used
/// on the suspending path only. The lock is the innermost one.
@usableFromInline
enum SuspendedTasks {
  private static let gates = Lock<[UInt: SendGate]>([:])

  /// The identity of the current task, or 0.
  @usableFromInline
  static var current: UInt {
    unsafe withUnsafeCurrentTask { task in
      guard let task = unsafe task else { return 0 }
      return unsafe unsafeBitCast(task, to: UInt.self)
    }
  }

  static func add(_ task: UInt, at gate: SendGate) {
    if task != 0 { gates.withLock { $0[task] = gate } }
  }

  static func remove(_ task: UInt) {
    let gate = gates.withLock { $0.removeValue(forKey: task) }
    withExtendedLifetime(gate) {}
  }

  private static func gate(of task: UInt) -> SendGate? {
    if task == 0 { return nil }
    return gates.withLock { $0[task] }
  }

  /// `false` if the counter certainly waits for no sender.
  static func maySuspend(_ counter: InFlightCounter) -> Bool {
    if counter.isRelay { return true }
    let task = counter.loop
    return task != 0 && gates.withLock { $0[task] != nil }
  }

  /// Returns `true` if each hold of the gate waits for the task.
  static func isExempt(_ task: UInt, at gate: SendGate) -> Bool {
    if task == 0 { return false }
    var search = Search(task: task)
    return search.allWait(at: gate)
  }

  /// Admits the suspended senders that must not wait.
  static func resumeExempt(at gate: SendGate) {
    if gate.holders(while: maySuspend) == nil { return }
    for (place, sender) in gate.suspendedSenders where isExempt(sender.task, at: gate) {
      gate.admit(place)
    }
  }

  private struct Search {
    let task: UInt
    var visited: Set<UInt> = []

    mutating func allWait(at gate: SendGate) -> Bool {
      guard let holders = gate.holders(while: maySuspend), !holders.isEmpty else { return false }
      for holder in holders where !waits(holder) { return false }
      return true
    }

    mutating func waits(_ counter: InFlightCounter) -> Bool {
      if counter.isRelay {
        guard let gate = counter.relayedGate else { return false }
        return allWait(at: gate)
      }
      let loop = counter.loop
      if loop == task { return true }
      guard visited.insert(loop).inserted, let gate = SuspendedTasks.gate(of: loop) else {
        return false
      }
      for holder in gate.holders where waits(holder) { return true }
      return false
    }
  }
}
