/// The actions and tasks with a pending deadline, in a binary heap.
///
/// Guarded by the lock of the manual clock. A canceled action is released immediately. Its key stays in the
/// heap until it is the first, or until most keys are such keys. Therefore, the first key always has an
/// action, and each change takes O(log n) amortized.
struct Sleepers {
  typealias Wake = @Sendable () -> Void

  struct Key: Sendable {
    let deadline: ManualClock.Instant
    let number: Int

    /// Returns `true` for an earlier deadline, or for the same deadline that was scheduled earlier.
    func isBefore(_ other: Key) -> Bool {
      deadline == other.deadline ? number < other.number : deadline < other.deadline
    }
  }

  private var heap: [Key] = []
  private var actions: [Int: Wake] = [:]
  private var lastNumber = 0

  var count: Int { actions.count }

  var nextDeadline: ManualClock.Instant? { heap.first?.deadline }

  mutating func key(for deadline: ManualClock.Instant) -> Key {
    lastNumber += 1
    return Key(deadline: deadline, number: lastNumber)
  }

  mutating func add(_ key: Key, wake: @escaping Wake) {
    actions[key.number] = wake
    heap.append(key)
    rise(from: heap.count - 1)
  }

  mutating func remove(_ key: Key) -> Wake? {
    let wake = actions.removeValue(forKey: key.number)
    if wake != nil { tidy() }
    return wake
  }

  mutating func popFirst(until limit: ManualClock.Instant) -> (ManualClock.Instant, Wake)? {
    guard let first = heap.first, first.deadline <= limit else { return nil }
    return remove(first).map { (first.deadline, $0) }
  }

  /// Removes the keys of removed actions if they are the first, or the majority.
  private mutating func tidy() {
    if heap.count > 2 * actions.count + 16 {
      heap.removeAll { actions[$0.number] == nil }
      for index in heap.indices.prefix(heap.count / 2).reversed() { sink(from: index) }
    }
    while let first = heap.first, actions[first.number] == nil {
      heap.swapAt(0, heap.count - 1)
      heap.removeLast()
      sink(from: 0)
    }
  }

  private mutating func rise(from start: Int) {
    var index = start
    while index > 0, heap[index].isBefore(heap[(index - 1) / 2]) {
      heap.swapAt(index, (index - 1) / 2)
      index = (index - 1) / 2
    }
  }

  private mutating func sink(from start: Int) {
    var index = start
    while true {
      let children = (2 * index + 1..<2 * index + 3).clamped(to: heap.indices)
      guard let child = children.min(by: { heap[$0].isBefore(heap[$1]) }) else { return }
      if !heap[child].isBefore(heap[index]) { return }
      heap.swapAt(index, child)
      index = child
    }
  }
}
