/// Decides which job starts next.
///
/// It has the numbers of the jobs, and no jobs. Jobs of one line run one after another. Guarded by the lock of the
/// performer, so lines were computed before, and equal lines were compared by the hash table of the standard library
/// only.
///
/// A line's candidate is in `startable` if and only if no job of the line runs: its first job that has begun, if that
/// job is ready, and without such a job its first ready job.
struct JobsSchedule: Sendable {
  struct Job: Sendable {
    let line: Int
    /// The number of the commit that added or replaced the job.
    var commit: Int
    /// The number of attempts that have begun.
    let attempts: Int
    let condition: Condition
    /// The time at which `perform` has seen the job first in this condition.
    let since: UnixTime
  }

  enum Condition: Sendable {
    case ready
    /// Ready after the time.
    case waiting(UnixTime)
    /// An attempt runs.
    case running
    case failed
  }

  struct Line: Sendable {
    var isRunning = false
    /// The jobs that have begun and are not given up, in the order of addition.
    var begun = NumberQueue()
    var ready = NumberQueue()
    var count = 0

    var candidate: Int? {
      if isRunning { return nil }
      guard let first = begun.first else { return ready.first }
      return ready.contains(first) ? first : nil
    }
  }

  struct Waiting: Comparable, Sendable {
    let time: UnixTime
    let number: Int

    static func < (one: Waiting, other: Waiting) -> Bool {
      (one.time, one.number) < (other.time, other.number)
    }
  }

  private(set) var jobs: [Int: Job] = [:]
  private(set) var lines: [Int: Line] = [:]
  private(set) var startable = PositionTree<Int, Never>()
  private(set) var waiting = PositionTree<Waiting, Never>()
  private(set) var failed = PositionTree<Int, Never>()

  /// The time of the next waiting job.
  var nextTime: UnixTime? { waiting.count == 0 ? nil : waiting[0].time }

  mutating func insert(_ number: Int, _ job: Job) {
    jobs[number] = job
    update(job.line) { line in
      line.count += 1
      if job.attempts > 0, !job.condition.isFailed { line.begun.insert(number) }
      if case .ready = job.condition { line.ready.insert(number) }
    }
    switch job.condition {
    case .waiting(let time): waiting.insertSorted(Waiting(time: time, number: number))
    case .failed: failed.insertSorted(number)
    case .ready, .running: break
    }
  }

  mutating func remove(_ number: Int) {
    guard let job = jobs.removeValue(forKey: number) else { return }
    update(job.line) { line in
      line.count -= 1
      line.begun.remove(number)
      line.ready.remove(number)
    }
    switch job.condition {
    case .waiting(let time): waiting.removeSorted(Waiting(time: time, number: number))
    case .failed: failed.removeSorted(number)
    case .ready, .running: break
    }
  }

  /// Makes the jobs ready whose time has come.
  mutating func wake(at now: UnixTime) {
    while waiting.count > 0, waiting[0].time <= now {
      let number = waiting.remove(at: 0).number
      guard let job = jobs[number] else { continue }
      update(job.line) { $0.ready.insert(number) }
    }
  }

  /// Returns the job that starts next.
  ///
  /// A job that became ready before the date has jumped back waits again.
  mutating func next(at now: UnixTime) -> (number: Int, job: Job)? {
    while startable.count > 0, let job = jobs[startable[0]] {
      let number = startable[0]
      guard case .waiting(let time) = job.condition, time > now else { return (number, job) }
      update(job.line) { $0.ready.remove(number) }
      waiting.insertSorted(Waiting(time: time, number: number))
    }
    return nil
  }

  /// Takes the next job.
  ///
  /// Its line runs until `stop(line:)`. It keeps the turn of its line until a commit about it is delivered, because its
  /// attempt may fail before that.
  mutating func start(_ number: Int) {
    guard let job = jobs[number] else { return }
    update(job.line) { line in
      line.isRunning = true
      line.ready.remove(number)
      line.begun.insert(number)
    }
  }

  /// Returns the turn of a job whose beginning was rejected, so that no commit about it follows.
  mutating func reject(_ number: Int) {
    guard let job = jobs[number], job.attempts == 0 else { return }
    update(job.line) { $0.begun.remove(number) }
  }

  mutating func stop(line: Int) { update(line) { $0.isRunning = false } }

  private mutating func update(_ number: Int, _ change: (inout Line) -> Void) {
    let old = lines[number]?.candidate
    change(&lines[number, default: Line()])
    let line = lines[number]
    let new = line?.candidate
    if let line, line.count == 0, !line.isRunning { lines[number] = nil }
    if old == new { return }
    if let old { startable.removeSorted(old) }
    if let new { startable.insertSorted(new) }
  }
}

extension JobsSchedule.Condition {
  var isFailed: Bool { if case .failed = self { true } else { false } }
}

extension PositionTree where Element: Comparable, Summary == Never {
  mutating func insertSorted(_ element: Element) {
    insert(element, at: partition { $0 >= element })
  }

  mutating func removeSorted(_ element: Element) {
    let (position, found) = search { $0 >= element }
    if found == element { remove(at: position) }
  }
}

/// A sorted list of the numbers of jobs, from which mostly the first is removed.
struct NumberQueue: Sendable {
  private var numbers: [Int] = []
  private var start = 0

  var first: Int? { start < numbers.count ? numbers[start] : nil }

  func contains(_ number: Int) -> Bool {
    let index = numbers[start...].partitionPoint(number)
    return index < numbers.count && numbers[index] == number
  }

  mutating func insert(_ number: Int) {
    if let last = numbers.last, last >= number, start < numbers.count {
      let index = numbers[start...].partitionPoint(number)
      if numbers[index] != number { numbers.insert(number, at: index) }
    } else {
      numbers.append(number)
    }
  }

  mutating func remove(_ number: Int) {
    let index = numbers[start...].partitionPoint(number)
    guard index < numbers.count, numbers[index] == number else { return }
    if index > start {
      numbers.remove(at: index)
      return
    }
    start += 1
    if start * 2 >= numbers.count {
      numbers.removeFirst(start)
      start = 0
    }
  }
}

extension ArraySlice<Int> {
  /// The index of the first element that is not less than a number.
  fileprivate func partitionPoint(_ number: Int) -> Int {
    var (low, high) = (startIndex, endIndex)
    while low < high {
      let middle = (low + high) / 2
      if self[middle] < number { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
