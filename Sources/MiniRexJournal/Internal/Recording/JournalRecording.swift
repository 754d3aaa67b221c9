internal import Dispatch
internal import MiniRex
internal import MiniRexStore

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A subscriber of a store that writes its commits.
///
/// The store calls `receive` serially. `memory` belongs to the thread that called `record` while `early` is not `nil`, and
/// then to the delivering thread.
final class JournalRecording<State: Codable & Sendable, Action: Codable & Sendable>: Sendable {
  let encoder = makeEncoder()

  let hold: JournalHold
  let writer: Int
  let replayed: ReplayedStates?
  let options: JournalOptions
  let progress: RecordingState
  /// Returns the commits that the store will deliver next.
  private let queuedCommits: @Sendable () -> [Commit<State, Action>]
  let memory: SerialState<RecordingMemory>
  /// The optional members of the first line.
  let firstMembers: JournalLineWriter.Members
  /// The lines after the first line, until it is written.
  let early: Lock<EarlyLines?>
  /// It belongs to the delivering thread.
  let collector: SerialState<LineCollector>

  init(
    in hold: JournalHold, continuing replayed: ReplayedStates?, _ options: JournalOptions,
    _ progress: RecordingState, queuedCommits: @escaping @Sendable () -> [Commit<State, Action>]
  ) {
    self.hold = hold
    writer = hold.file.beginWriting()
    self.replayed = replayed
    self.options = options
    self.progress = progress
    self.queuedCommits = queuedCommits
    var memory = RecordingMemory()
    (memory.marks, memory.durable) = hold.file.marks
    firstMembers = memory.members(options.now())
    early = Lock(EarlyLines(marks: memory.marks))
    collector = SerialState(LineCollector(marks: memory.marks))
    self.memory = SerialState(memory)
  }

  deinit { progress.end() }

  /// Writes a commit, or collects its line before the first line is written.
  ///
  /// With `everyCommit`, it also writes the queued commits, so that they share the synchronization.
  func receive(_ commit: Commit<State, Action>) {
    if !collector.value.isOver, collects(commit) { return }
    guard commit.number > memory.value.written, !memory.value.hasFailed else { return }
    do throws(JournalFailure) {
      (memory.value.marks, memory.value.durable) = hold.file.marks
      memory.value.line.removeAll()
      try append(commit)
      if options.sync == .everyCommit {
        try finish(with: try appendQueued(after: commit))
      } else {
        try finish(with: commit)
      }
    } catch {
      memory.value.hasFailed = true
      progress.fail(with: error)
    }
  }

  /// Formats the queued commits.
  ///
  /// - Returns: The last queued commit, or `commit` if none is queued.
  private func appendQueued(after commit: Commit<State, Action>) throws(JournalFailure)
    -> Commit<State, Action>
  {
    var last = commit
    for next in queuedCommits() where next.number == memory.value.written + 1 {
      try append(next)
      last = next
    }
    return last
  }

  /// Writes the formatted lines, and then shortens the file if it is due.
  ///
  /// - Parameter last: The commit of the last formatted line.
  private func finish(with last: Commit<State, Action>) throws(JournalFailure) {
    try write()
    shorten(last)
  }

  func write() throws(JournalFailure) {
    let number = memory.value.written
    memory.value.end = try hold.file.append(
      memory.value.line, upTo: number + (memory.value.offset ?? 0), memory.value.marks, by: writer)
    // The weight of the file includes these lines.
    memory.value.line.removeAll()
    switch options.sync {
    case .everyCommit:
      if memory.value.end != nil { try hold.file.synchronize() }
      hasWritten(number)
      progress.report()
    case .every(let duration): hasWritten(number, synchronizingAfter: duration)
    case .onFlush: hasWritten(number)
    }
  }

  func hasWritten(_ number: Int, synchronizingAfter duration: Duration? = nil) {
    if memory.value.end == nil {
      // Another recording has begun, so a flush must not count this commit.
      memory.value.hasFailed = true
      return
    }
    memory.value.isCompactionRequested = progress.hasWritten(
      number, at: memory.value.offset ?? 0, synchronizingAfter: duration)
  }

  private func append(_ commit: Commit<State, Action>) throws(JournalFailure) {
    memory.value.written = commit.number
    let number = commit.number + (memory.value.offset ?? 0)
    try append(commit, number, members(), to: &memory.value.line)
    guard case .action = commit.cause, isSnapshotDue(after: memory.value.line),
      isSmall(commit.state)
    else { return }
    append(
      number, members(), "\"snapshot\"", try encoded(commit.state, number), to: &memory.value.line)
  }

  /// Appends the line of a commit to the lines of the thread that formats it.
  func append(
    _ commit: Commit<State, Action>, _ number: Int, _ members: JournalLineWriter.Members,
    to line: inout JournalLineWriter
  ) throws(JournalFailure) {
    guard case .action(let action) = commit.cause else {
      let key = "\"cause\":\(quoted("\(commit.cause)")),\"state\""
      return append(number, members, key, try encoded(commit.state, number), to: &line)
    }
    var members = members
    members.version = options.upcasting.actionVersion
    line.append(number, members, "\"action\"", try encoded(action, number))
    line.countAction()
  }

  /// Appends a line with a state.
  func append(
    _ number: Int, _ members: JournalLineWriter.Members, _ key: String, _ state: Data,
    to line: inout JournalLineWriter
  ) {
    var members = members
    members.version = options.upcasting.stateVersion
    line.append(number, members, key, state)
    line.countState(state.count)
  }

  private func members() -> JournalLineWriter.Members { memory.value.members(options.now()) }

  /// Returns whether the actions since the last state, the formatted lines included, call for a snapshot.
  private func isSnapshotDue(after line: JournalLineWriter) -> Bool {
    let weight = memory.value.end?.weight ?? JournalWeight()
    if let state = line.state {
      return isSnapshotDue(line.actions, line.bytes.count - state.end, after: state.bytes)
    }
    let bytes = (memory.value.end?.part.length ?? 0) + line.bytes.count - weight.last.end
    return isSnapshotDue(weight.actions + line.actions, bytes, after: weight.last.bytes)
  }

  /// Returns whether the actions since the last state in the file call for a snapshot.
  func isSnapshotDue(_ part: JournalPart, _ weight: JournalWeight) -> Bool {
    isSnapshotDue(weight.actions, part.length - weight.last.end, after: weight.last.bytes)
  }

  /// - Parameters:
  ///   - actions: The number of actions since the last state.
  ///   - bytes: The number of bytes of their lines.
  ///   - size: The number of bytes of that state.
  private func isSnapshotDue(_ actions: Int, _ bytes: Int, after size: Int) -> Bool {
    guard options.history.span != .none, options.snapshotDistance != 0 else { return false }
    return options.snapshotDistance.map { actions >= $0 } ?? (actions >= 1_000 && bytes > size)
  }

  /// Returns whether the state can be encoded on the thread that delivers its commit.
  ///
  /// It can have grown since it was last encoded. The size of a large state is estimated once, until it is encoded.
  func isSmall(_ state: State) -> Bool {
    let last = memory.value.end?.weight.last ?? JournalWeight.State()
    if last.bytes > smallState || memory.value.placeOfLarge == last.end { return false }
    if hasJSON(of: state, upTo: smallState) { return true }
    memory.value.placeOfLarge = last.end
    return false
  }

  func encoded(_ value: some Encodable, _ number: Int) throws(JournalFailure) -> Data {
    try MiniRexJournal.encoded(value, number, by: encoder)
  }
}

/// The part of a recording that depends on no type of the store.
///
/// Nested in the generic recording, it would be a generic type, whose metadata each access looks up.
struct RecordingMemory {
  var line = JournalLineWriter()
  /// The difference between the number of a line and the store's number.
  var offset: Int?
  /// The number of the last written commit, as the store counts.
  var written = 0
  var hasFailed = false
  /// A Boolean value that indicates whether a compaction was requested before the last line.
  var isCompactionRequested = false
  var marks = JournalMarks()
  /// The number of the last commit on the disk, when the lines are formatted.
  var durable = -1
  /// The place after the last state in the file, if the store's state has grown large since.
  var placeOfLarge: Int?
  /// The end of the file after the last lines.
  var end: (part: JournalPart, weight: JournalWeight)?

  /// Returns the optional members of the next line.
  mutating func members(_ now: Int) -> JournalLineWriter.Members {
    var members = JournalLineWriter.Members()
    if marks.take(now) { members.second = marks.second }
    if durable > marks.synced {
      members.synced = durable
      marks.synced = durable
    }
    return members
  }
}

func encoded(_ value: some Encodable, _ number: Int, by encoder: JSONEncoder)
  throws(JournalFailure) -> Data
{
  do {
    return try encoder.encode(value)
  } catch {
    throw .unwritable(number: number, codingFailure(error))
  }
}

/// The choices of the journal's initializer.
struct JournalOptions: Sendable {
  let history: JournalHistory
  /// The number of actions after which a state is written, `nil` to decide by size, 0 for never.
  let snapshotDistance: Int?
  let sync: JournalSyncPolicy
  let upcasting: JournalUpcasting
  /// Returns the Unix second.
  let now: @Sendable () -> Int
}
