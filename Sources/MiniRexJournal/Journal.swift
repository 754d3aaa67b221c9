public import MiniRex
public import MiniRexStore

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A file with the actions of a store, which restores the store's state.
///
/// ```swift
/// let journal = try Journal<Board, BoardAction>(file)
/// let store = Store(try journal.replay(Board(), reducer: reducer), reducer: reducer)
/// let recording = journal.record(store)
/// ```
///
/// Each commit is one line of JSON. When an uncontended `send` returns, the operating system has the line, so it survives
/// a kill of the program. The journal and its recording lock the file until both are released.
public final class Journal<State: Codable & Sendable, Action: Codable & Sendable>: Sendable {
  private let hold: JournalHold
  private let snapshotDistance: Int
  private let syncPolicy: JournalSyncPolicy
  let failures = PublishedProperty<JournalFailure?>(nil)
  private let recording = Lock<RecordingState?>(nil)
  private let replayed = Lock<ReplayedStates?>(nil)

  /// Opens a file, and creates it if necessary.
  ///
  /// After a kill in the middle of a write, the last line is torn. The journal ignores it, and the next recording removes
  /// it. A file that you may only read can be replayed and verified. Recording it fails.
  ///
  /// - Parameters:
  ///   - file: The URL of the file. Its folder must exist.
  ///   - count: The number of actions after which a recording also writes the state, so that a replay reads
  ///     fewer lines. The default is 1,000, and 0 means never. Traps if less than 0.
  ///   - syncPolicy: The time of synchronization with the disk, besides each `flush()`. The default is one second after
  ///     the first line that is not on the disk. Traps if the duration is less than 0.
  public init(
    _ file: URL, snapshotEvery count: Int = 1_000,
    sync syncPolicy: JournalSyncPolicy = .every(.seconds(1))
  ) throws(JournalFailure) {
    if count < 0 {
      misuse("'snapshotEvery' requires a count of 0 or more, not \(count). 0 means never.")
    }
    if case .every(let duration) = syncPolicy, duration < .zero {
      misuse("'sync' requires a duration of 0 or more, not \(duration).")
    }
    hold = try JournalHold(file)
    snapshotDistance = count
    self.syncPolicy = syncPolicy
  }

  /// Writes the current state, then each commit, until the subscription is canceled or the store is deallocated.
  ///
  /// The thread that delivers a commit to `events` also writes its line, in the same order. A write that fails ends the
  /// recording and does not affect `send`. ``failure`` and ``flush()`` report it. Without write permission, the
  /// recording fails at its first line.
  ///
  /// If the store has the state that ``replay(_:upTo:reducer:)`` returned, the recording continues the file, and
  /// ``verify(_:reducer:)`` compares the state. Otherwise, the file begins again with the store's state, and the
  /// earlier commits remain available to `replay`.
  ///
  /// - Parameter store: The store to record. Traps if it is a scope, or if the journal is already recording.
  /// - Returns: The subscription that ends the recording when it is released.
  public func record(_ store: Store<State, Action>) -> Subscription {
    if store.isScope {
      misuse("'record' requires a store, not a scope. Record the root store.")
    }
    let progress = RecordingState(of: file, reportingTo: failures) { [weak store] in
      store?.lastNumber
    }
    let former = recording.withLock { recording in
      defer { recording = progress }
      return recording
    }
    if former?.isActive == true {
      misuse(
        "This journal is already recording. Cancel that recording first, or use a separate journal "
          + "and file for each store.")
    }
    failures.value = nil
    let writer = JournalRecording<State, Action>(
      in: hold, continuing: replayed.withLock { $0.take() }, snapshotEvery: snapshotDistance,
      sync: syncPolicy, progress
    ) { [weak store] in store?.queuedCommits ?? [] }
    let subscription = store.subscribeToCommits { writer.receive($0) }
    progress.attach(subscription)
    return subscription
  }

  /// Returns when all commits before the call are on the disk.
  ///
  /// It also waits for commits that another thread still has to deliver. It does not block the calling thread.
  /// Concurrent calls share a synchronization. After the end of a recording, it synchronizes the lines of that recording.
  ///
  /// Throws the failure that ended the recording. Also throws if the path no longer names the file, or if the file does
  /// not have the written length: a restart would not find the lines. Such a failure ends the recording.
  public func flush() async throws(JournalFailure) {
    try await currentRecording.flush()
  }

  /// Returns when the store's commit with this number is on the disk.
  ///
  /// Use it with the number of one commit, so that commits of other threads after it cost no time. It returns without a
  /// synchronization if the commit is already on the disk. Cancellation of the calling task has no effect.
  ///
  /// Throws ``JournalFailure/notRecording`` if the recording ended before that commit, or the failure that ended it.
  ///
  /// - Parameter number: The number of the commit, as the store counts. `nil` returns immediately.
  public func flush(through number: Int?) async throws(JournalFailure) {
    if let number { try await currentRecording.flush(through: number) }
  }

  /// The last recording, or a recording that has already ended.
  private var currentRecording: RecordingState {
    recording.withLock { $0 } ?? .ended(of: file, reportingTo: failures)
  }

  var file: JournalFile { hold.file }

  /// The number of synchronizations with the disk since the journal was opened.
  ///
  /// Commits per synchronization show how much concurrent calls of ``flush()`` share.
  public var syncCount: Int { file.syncCount.count }

  /// Allows a recording of a store with this state to continue the file.
  func remember(_ state: State, at length: Int) {
    guard file.isWritable, length == file.extent.length,
      recording.withLock({ $0 })?.isActive != true,
      let json = try? makeEncoder().encode(state)
    else { return }
    replayed.withLock { replayed in
      var states = replayed ?? ReplayedStates(atLength: length)
      states.insert(json, atLength: length)
      replayed = states
    }
  }

  /// The number of commits in the file, over all runs of the program.
  public var lastNumber: Int { file.extent.number }

  /// The failure that ended the last recording, or `nil`.
  ///
  /// It is `nil` again when a recording begins.
  public var failure: PublishedValue<JournalFailure?> { failures.publisher }
}
