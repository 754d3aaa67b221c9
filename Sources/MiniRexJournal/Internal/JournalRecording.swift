internal import MiniRex
internal import MiniRexStore

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// A subscriber of a store that writes its commits.
///
/// The store calls it serially.
final class JournalRecording<State: Codable & Sendable, Action: Codable & Sendable>: Sendable {
  private struct Memory {
    var line = JournalLineWriter()
    /// The difference between the number of a line and the store's number.
    var offset: Int?
    /// The number of the last written commit, as the store counts.
    var written = 0
    var sinceSnapshot = 0
    var hasFailed = false
  }

  private let encoder = makeEncoder()

  private let hold: JournalHold
  private let writing: (writer: Int, number: Int, length: Int)
  private let replayed: ReplayedStates?
  private let snapshotDistance: Int
  private let syncPolicy: JournalSyncPolicy
  private let progress: RecordingState
  /// Returns the commits that the store will deliver next.
  private let queuedCommits: @Sendable () -> [Commit<State, Action>]
  private let memory = SerialState(Memory())

  init(
    in hold: JournalHold, continuing replayed: ReplayedStates?, snapshotEvery snapshotDistance: Int,
    sync syncPolicy: JournalSyncPolicy, _ progress: RecordingState,
    queuedCommits: @escaping @Sendable () -> [Commit<State, Action>]
  ) {
    self.hold = hold
    writing = hold.file.beginWriting()
    self.replayed = replayed
    self.snapshotDistance = snapshotDistance
    self.syncPolicy = syncPolicy
    self.progress = progress
    self.queuedCommits = queuedCommits
  }

  deinit { progress.end() }

  /// Writes a commit, or at the first call the state with which the recording begins.
  ///
  /// With `everyCommit`, it also writes the queued commits, so that they share the synchronization.
  func receive(_ commit: Commit<State, Action>) {
    let isNew = memory.value.offset == nil || commit.number > memory.value.written
    guard isNew, !memory.value.hasFailed else { return }
    do throws(JournalFailure) {
      memory.value.line.removeAll()
      try appendLines(of: commit)
      if syncPolicy == .everyCommit {
        for next in queuedCommits() where next.number == memory.value.written + 1 {
          try appendLines(of: next)
        }
      }
      try write()
    } catch {
      memory.value.hasFailed = true
      progress.fail(with: error)
    }
  }

  private func write() throws(JournalFailure) {
    let number = memory.value.written
    let isWritten = try hold.file.append(
      memory.value.line.bytes, upTo: number + (memory.value.offset ?? 0), by: writing.writer)
    switch syncPolicy {
    case .everyCommit:
      if isWritten { try hold.file.synchronize() }
      progress.hasWritten(number)
    case .every(let duration): progress.hasWritten(number, synchronizingAfter: duration)
    case .onFlush: progress.hasWritten(number)
    }
  }

  private func appendLines(of commit: Commit<State, Action>) throws(JournalFailure) {
    memory.value.written = commit.number
    if let offset = memory.value.offset { return try append(commit, commit.number + offset) }
    let number = writing.number
    memory.value.offset = number - commit.number
    if writing.length == 0 { memory.value.line.appendHeader() }
    let state = try encoded(commit.state, number)
    // `verify` compares a snapshot with the lines before it.
    let follows =
      writing.length > 0 && replayed?.contains(state, atLength: writing.length) == true
    memory.value.line.append(number, follows ? "\"snapshot\"" : "\"start\"", state)
  }

  private func append(_ commit: Commit<State, Action>, _ number: Int) throws(JournalFailure) {
    guard case .action(let action) = commit.cause else {
      let cause = quoted("\(commit.cause)")
      return try append("\"cause\":\(cause),\"state\"", commit.state, number)
    }
    memory.value.line.append(number, "\"action\"", try encoded(action, number))
    memory.value.sinceSnapshot += 1
    if memory.value.sinceSnapshot == snapshotDistance {
      try append("\"snapshot\"", commit.state, number)
    }
  }

  private func append(_ key: String, _ state: State, _ number: Int) throws(JournalFailure) {
    memory.value.line.append(number, key, try encoded(state, number))
    memory.value.sinceSnapshot = 0
  }

  private func encoded(_ value: some Encodable, _ number: Int) throws(JournalFailure) -> Data {
    do {
      return try encoder.encode(value)
    } catch {
      throw .unwritable(number: number, codingFailure(error))
    }
  }
}
