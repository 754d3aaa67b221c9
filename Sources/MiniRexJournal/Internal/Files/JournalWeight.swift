/// The newest `at` and `synced` members of the lines so far.
struct JournalMarks: Sendable {
  /// The last `at`, or -1.
  private(set) var second = -1
  /// The `at` before the last, or -1.
  private var formerSecond = -1
  /// The first and the last second of a clock that is more than an hour behind.
  private var behind: (first: Int, last: Int)?
  /// The last `synced`, or -1.
  var synced = -1

  init() {}

  init(_ found: JournalScan) {
    second = found.second ?? -1
    formerSecond = found.formerSecond ?? -1
    synced = found.synced
  }

  /// Takes the clock's second.
  ///
  /// While the clock is behind, time does not continue, because a clock that was set back is usually corrected. But if it
  /// was ahead before, time continues from its new second: immediately if it was ahead for one step only, and otherwise
  /// after an hour.
  ///
  /// - Returns: `true` if the line must have the second.
  mutating func take(_ now: Int) -> Bool {
    if now <= second, now >= second - hour {
      behind = nil
      return false
    }
    if now < second {
      let first = behind?.first ?? now
      behind = (first, now)
      if now < formerSecond, now - first < hour { return false }
    }
    (formerSecond, second, behind) = (min(second, now), now, nil)
    return true
  }

  /// The second of the last commit, by the clock that was right last.
  var latest: Int { behind?.last ?? second }

  /// Returns the second at which the kept span ends.
  ///
  /// A single step that would end the entire span counts when the next second confirms it, because a clock can be wrong
  /// for one commit.
  func now(for span: Int) -> Int {
    behind?.last ?? (second - formerSecond > span ? formerSecond : second)
  }
}

private let hour = 3_600

/// The sizes that decide about snapshots and compaction.
struct JournalWeight: Sendable {
  struct State: Sendable {
    /// The offset of the line after the state.
    var end = 0
    var bytes = 0
  }

  /// The first state of the file.
  ///
  /// If opening the file did not read it, the first recording reads it before its first line.
  var first = State()
  var last = State()
  /// The number of actions after the last state.
  var actions = 0
  /// The Unix second of the first state.
  var firstSecond: Int?
  /// The weight that a failed compaction adds to the weight of the next attempt.
  var delay = 0

  init() {}

  init(_ found: JournalScan) {
    actions = found.actions
    if let state = found.state, found.part.length > 0 {
      last = State(end: state.end, bytes: state.bytes)
      if state.offset == found.part.header.length { first = last }
    }
  }

  mutating func add(_ lines: JournalLineWriter, at offset: Int) {
    if let state = lines.state {
      last = State(end: offset + state.end, bytes: state.bytes)
      if first.end == 0 { first = last }
      actions = 0
    }
    actions += lines.actions
  }

  /// Returns whether the lines after the first state of a file weigh enough for a compaction.
  ///
  /// - Parameters:
  ///   - commits: The number of commits after the first state.
  ///   - seconds: The number of seconds after the first state.
  func isDue(_ history: JournalHistory, length: Int, commits: Int, seconds: Int) -> Bool {
    let lines = length - first.end - delay
    var least = max(first.bytes, 1 << 20)
    switch history.span {
    case .none:
      // A large state is compacted on another thread, so lines are written during the compaction and count as well.
      if first.bytes > smallState { least = least * 3 / 4 }
      return lines >= least
    case .everything: return lines >= max(least, longHistory)
    case .commits(let span):
      return lines >= least && (lines >= longHistory || commits >= span / 4)
    case .seconds(let span):
      // A file that began in the future began while the clock was ahead.
      return lines >= least && (lines >= longHistory || seconds >= span / 4 || seconds < 0)
    }
  }
}

/// The size of the lines after which a journal with history begins a new file.
private let longHistory = 256 << 20
/// A state of at most this size is encoded on the thread that delivers its commit.
let smallState = 16 << 10
