internal import Dispatch
internal import MiniRex
internal import MiniRexStore

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Compacts with the state of the recorded store.
typealias RecordedCompaction = @Sendable () async -> CompactionResult

extension Journal {
  /// Begins a new file immediately, and returns when it is on the disk.
  ///
  /// The new file begins with the newest state. Without a recording, it begins with the last recorded state and the
  /// commits after it: if that state is the first line, the call does nothing, because the new file would be the same.
  /// Sends continue. If no commit was written since the file began, the call does nothing. It also waits for commits that
  /// another thread still has to deliver.
  ///
  /// The new file has the owner, the permissions, and the extended attributes of the old file.
  ///
  /// Throws the failure that prevented it. The journal then continues with its old file.
  public func compact() async throws(JournalFailure) {
    while true {
      let recording = currentRecording
      let result = recording.isActive ? await compactRecording() : await compactFile()
      switch result {
      case .done: return
      case .failed(.notRecording) where !isCurrent(recording):
        // The recording ended during the call. Its lines remain.
        continue
      case .failed(let failure): throw failure
      case .isBusy: await awaitWork()
      }
    }
  }

  /// - Parameter store: The store that the recording writes.
  func compaction(of store: Store<State, Action>, by recording: JournalRecording<State, Action>)
    -> RecordedCompaction
  {
    { [weak store, weak recording] in
      // The recording ends with its last reference, so none is kept while the caller waits.
      await withCheckedContinuation { continuation in
        guard let store, let recording else {
          return continuation.resume(returning: .failed(.notRecording))
        }
        recording.requestCompaction(of: store) { continuation.resume(returning: $0) }
      }
    }
  }

  private func isCurrent(_ recording: RecordingState) -> Bool {
    recording.isActive && recording === currentRecording
  }

  private func compactRecording() async -> CompactionResult {
    guard let compact = recordedCompaction.withLock({ $0 }) else { return .failed(.notRecording) }
    return await compact()
  }

  private func awaitWork() async {
    await withCheckedContinuation { continuation in
      file.work.notify(queue: .global()) { continuation.resume() }
    }
  }

  /// Returns the JSON of a state in its newest version, and this version.
  private func renewed(_ line: JournalLine) throws(JournalFailure) -> (
    json: JournalLineWriter.JSON, version: Int
  ) {
    let newest = options.upcasting.stateVersion
    if line.version == newest || options.upcasting.keepsVersions {
      return (JournalLineWriter.JSON(line.payload), line.version)
    }
    return (try encoded(decoder.state(of: line), line.number, by: makeEncoder()), newest)
  }

  /// Compacts the file on another thread, which does not retain the journal when the caller continues.
  ///
  /// Otherwise the file could still be locked after the caller has released the journal.
  private func compactFile() async -> CompactionResult {
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async { [weak self] in
        continuation.resume(returning: self?.compactedFile() ?? .failed(.notRecording))
      }
    }
  }

  private func compactedFile() -> CompactionResult {
    guard file.beginWork(isCompaction: true) else { return .isBusy }
    defer {
      file.endWork()
      report()
    }
    do throws(JournalFailure) {
      return try file.compactToLastState(renewed) ? .done : .isBusy
    } catch {
      file.noteFailedCompaction(error)
      return .failed(error)
    }
  }
}
