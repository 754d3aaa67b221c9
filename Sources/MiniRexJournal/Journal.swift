internal import CLibrary
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
  let hold: JournalHold
  let options: JournalOptions
  let failures = PublishedProperty<JournalFailure?>(nil)
  let statuses: PublishedProperty<JournalStatus>
  let recording = Lock<RecordingState?>(nil)
  /// Begins a compaction with the state of the recorded store.
  let recordedCompaction = Lock<RecordedCompaction?>(nil)
  private let replayed = Lock<ReplayedStates?>(nil)

  /// Opens a file, and creates it if necessary.
  ///
  /// After a kill or a power loss, the last lines can be torn. The journal ignores them, and the next recording removes
  /// them. A file that you may only read can be replayed and verified. Recording it fails. Throws
  /// ``JournalFailure/otherDisk(folder:)`` if no file could be closed, and `JournalFailure.file(.EINVAL)` for a URL
  /// without a path that the system can take.
  ///
  /// - Parameters:
  ///   - file: The URL of the file. Its folder must exist.
  ///   - history: The commits that stay on the disk. The default is all commits.
  ///   - count: The number of actions after which a recording also writes the state, so that a replay reads fewer
  ///     lines. By default, it writes a state after 1,000 actions that take more bytes than the last state. 0 means
  ///     never. Traps if less than 0.
  ///   - syncPolicy: The time of synchronization with the disk, besides each `flush()`. The default is one second after
  ///     the first line that is not on the disk. Traps if the duration is less than 0.
  ///   - upcasting: The changes that make today's actions and states of recorded ones.
  public convenience init(
    _ file: URL, keeping history: JournalHistory = .everything, snapshotEvery count: Int? = nil,
    sync syncPolicy: JournalSyncPolicy = .every(.seconds(1)),
    upcasting: JournalUpcasting = JournalUpcasting()
  ) throws(JournalFailure) {
    try self.init(
      file, keeping: history, snapshotEvery: count, sync: syncPolicy, upcasting: upcasting
    ) { time(nil) }
  }

  /// - Parameter now: Returns the Unix second.
  init(
    _ file: URL, keeping history: JournalHistory, snapshotEvery count: Int?,
    sync syncPolicy: JournalSyncPolicy, upcasting: JournalUpcasting = JournalUpcasting(),
    now: @escaping @Sendable () -> Int
  ) throws(JournalFailure) {
    if let count, count < 0 {
      misuse("'snapshotEvery' requires a count of 0 or more, not \(count). 0 means never.")
    }
    if case .every(let duration) = syncPolicy, duration < .zero {
      misuse("'sync' requires a duration of 0 or more, not \(duration).")
    }
    hold = try JournalHold(file, keeping: history, upcasting: upcasting)
    options = JournalOptions(
      history: history, snapshotDistance: count, sync: syncPolicy, upcasting: upcasting, now: now)
    statuses = PublishedProperty(hold.file.status)
  }

  /// Writes the current state, then each commit, until the subscription is canceled or the store is deallocated.
  ///
  /// The file grows until its lines weigh enough, see ``JournalHistory``. Then the recording continues in a new file
  /// that begins with the state. ``compact()`` does this immediately.
  ///
  /// The thread that delivers a commit to `events` also writes its line, in the same order. A write that fails ends the
  /// recording and does not affect `send`. ``failure`` and ``flush()`` report it. Without write permission, the
  /// recording fails at its first line.
  ///
  /// The first line has the state, which the calling thread encodes. A large state therefore takes long. No `send`
  /// waits for it. The lines of commits during the call stay in memory, and follow the first line before `record`
  /// returns. A kill during the call loses them. Later snapshots above 16 KiB are encoded on another thread. A commit
  /// without an action, such as an undo, has the state in its line, which the delivering thread encodes.
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
    if store.isReplicated {
      misuse(
        "'record' cannot record the store of a replica, whose commits are predictions. Its log is the record. "
          + "Use 'keptIn:' to keep the state and the pending actions, and 'UndoLog(of:)' to undo.")
    }
    let progress = RecordingState(of: file, reportingTo: failures, statuses) { [weak store] in
      store?.lastNumber
    }
    progress.begin(of: store.rootIdentity)
    let writer = JournalRecording<State, Action>(
      in: hold, continuing: replayed.withLock { $0.take() }, options, progress
    ) { [weak store] in store?.queuedCommits ?? [] }
    recordedCompaction.withLock { $0 = compaction(of: store, by: writer) }
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
    let (last, subscription) = store.subscribeToLaterCommits {
      writer.collectCommits(after: $0)
    } _: {
      writer.receive($0)
    }
    progress.attach(subscription)
    let hasCollected = writer.begin(of: store, with: consume last)
    writer.beginRequestedCompaction(of: store)
    if hasCollected { writer.shortenAfterWriting(from: store, blocks: false) }
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

  /// Throws the failure of the recording, or ``JournalFailure/notRecording`` if it records another store.
  func requireRecording(of store: ObjectIdentifier) throws(JournalFailure) {
    try currentRecording.require(store)
  }

  /// The last recording, or a recording that has already ended.
  var currentRecording: RecordingState {
    recording.withLock { $0 } ?? .ended(of: file, reportingTo: failures, statuses)
  }

  var file: JournalFile { hold.file }

  var decoder: JournalDecoder<State, Action> { JournalDecoder(options.upcasting) }

  /// The number of synchronizations with the disk since the journal was opened.
  ///
  /// Commits per synchronization show how much concurrent calls of ``flush()`` share.
  public var syncCount: Int { file.syncCount.count }

  /// Allows a recording of a store with this state to continue the file.
  ///
  /// - Parameter generation: The generation of the file when the replay began.
  func remember(_ state: State, at generation: Int) {
    guard file.isWritable, generation == file.generation, !isRecording,
      let json = try? makeEncoder().encode(state)
    else { return }
    replayed.withLock { replayed in
      var states = replayed ?? ReplayedStates(at: generation)
      states.insert(json, at: generation)
      replayed = states
    }
  }

  var isRecording: Bool { recording.withLock { $0 }?.isActive == true }

  func report() { currentRecording.report() }

  /// The number of commits in the file, over all runs of the program.
  public var lastNumber: Int { file.extent.number }

  /// The sizes, the durable commits, and the compaction.
  ///
  /// It is published after each synchronization, compaction, and failure, on the thread that performed it. Reading it
  /// takes O(1).
  public var status: PublishedValue<JournalStatus> { statuses.publisher }

  /// The failure that ended the last recording, or `nil`.
  ///
  /// It is `nil` again when a recording begins.
  public var failure: PublishedValue<JournalFailure?> { failures.publisher }
}
