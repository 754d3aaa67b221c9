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
        // The recording ended during the call, so the next round compacts the file with its lines.
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

  /// The other thread retains no journal, so that the file is unlocked when the journal is released.
  private func compactFile() async -> CompactionResult {
    let renewed = Self.renewal(options.upcasting)
    return await withCheckedContinuation { continuation in
      DispatchQueue.global().async { [file, currentRecording] in
        guard file.beginWork(isCompaction: true) else {
          return continuation.resume(returning: .isBusy)
        }
        var result = CompactionResult.done
        do throws(JournalFailure) {
          if !(try file.compactToLastState(renewed)) { result = .isBusy }
        } catch {
          result = .failed(error)
          file.noteFailedCompaction(error)
        }
        file.endWork()
        currentRecording.report()
        continuation.resume(returning: result)
      }
    }
  }

  /// Returns a closure that returns the JSON of a state in its newest version, and this version.
  private static func renewal(_ upcasting: JournalUpcasting)
    -> @Sendable (JournalLine)
    throws(JournalFailure) -> (json: JournalLineWriter.JSON, version: Int)
  {
    { line throws(JournalFailure) in
      let newest = upcasting.stateVersion
      if line.version == newest || upcasting.keepsVersions {
        return (JournalLineWriter.JSON(line.payload), line.version)
      }
      let state = try JournalDecoder<State, Action>(upcasting).state(of: line)
      return (try encoded(state, line.number, by: makeEncoder()), newest)
    }
  }
}
