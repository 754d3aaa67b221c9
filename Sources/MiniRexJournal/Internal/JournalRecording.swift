internal import MiniRex
internal import MiniRexStore

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// What writes the commits of one store, one after the other, as they are told.
final class JournalRecording<State: Codable & Sendable, Action: Codable & Sendable>: Sendable {
  private struct Memory {
    var line = JournalLineWriter()
    /// What is added to a number of the store.
    var offset: Int?
    var sinceSnapshot = 0
    var hasFailed = false
  }

  private let encoder = makeEncoder()

  private let file: JournalFile
  private let writing: (writer: Int, number: Int, isEmpty: Bool)
  private let snapshotDistance: Int
  private let synchronising: JournalSynchronising
  private let failures: PublishedProperty<JournalFailure?>
  private let progress: RecordingProgress
  private let memory = SerialState(Memory())

  init(
    in file: JournalFile, snapshotEvery snapshotDistance: Int,
    synchronising: JournalSynchronising,
    tellingFailuresTo failures: PublishedProperty<JournalFailure?>,
    _ progress: RecordingProgress
  ) {
    self.file = file
    writing = file.beginWriting()
    self.snapshotDistance = snapshotDistance
    self.synchronising = synchronising
    self.failures = failures
    self.progress = progress
  }

  deinit { progress.end() }

  /// The first has the state at which the recording begins.
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
      if writing.isEmpty { memory.value.line.appendHeader() }
      try append("\"start\"", commit.state, number)
    }
    if try file.append(memory.value.line.bytes, upTo: number, by: writing.writer),
      case .everyCommit = synchronising
    {
      try file.synchronise()
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
