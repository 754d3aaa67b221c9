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
    var sinceSnapshot = 0
    var hasFailed = false
  }

  private let encoder = makeEncoder()

  private let file: JournalFile
  private let writing: (writer: Int, number: Int, length: Int)
  private let replayed: ReplayedStates?
  private let snapshotDistance: Int
  private let syncPolicy: JournalSyncPolicy
  private let failures: PublishedProperty<JournalFailure?>
  private let progress: RecordingState
  private let memory = SerialState(Memory())

  init(
    in file: JournalFile, continuing replayed: ReplayedStates?, snapshotEvery snapshotDistance: Int,
    sync syncPolicy: JournalSyncPolicy,
    reportingTo failures: PublishedProperty<JournalFailure?>,
    _ progress: RecordingState
  ) {
    self.file = file
    writing = file.beginWriting()
    self.replayed = replayed
    self.snapshotDistance = snapshotDistance
    self.syncPolicy = syncPolicy
    self.failures = failures
    self.progress = progress
  }

  deinit { progress.end() }

  /// Writes a commit, or at the first call the state with which the recording begins.
  func receive(_ commit: Commit<State, Action>) {
    guard !memory.value.hasFailed else { return }
    do throws(JournalFailure) {
      try write(commit)
      progress.hasWritten(commit.number)
    } catch {
      memory.value.hasFailed = true
      progress.giveWay()
      failures.value = error
      progress.fail()
    }
  }

  private func write(_ commit: Commit<State, Action>) throws(JournalFailure) {
    memory.value.line.removeAll()
    let number: Int
    if let offset = memory.value.offset {
      number = commit.number + offset
      try append(commit, number)
    } else {
      number = writing.number
      memory.value.offset = number - commit.number
      if writing.length == 0 { memory.value.line.appendHeader() }
      let state = try encoded(commit.state, number)
      // `verify` compares a snapshot with the lines before it.
      let follows =
        writing.length > 0 && replayed?.contains(state, atLength: writing.length) == true
      memory.value.line.append(number, follows ? "\"snapshot\"" : "\"start\"", state)
    }
    if try file.append(memory.value.line.bytes, upTo: number, by: writing.writer),
      case .everyCommit = syncPolicy
    {
      try file.synchronize()
    }
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
      throw .unwritable(number: number, "\(error)")
    }
  }
}
