internal import Dispatch
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
  let file: JournalFile
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
  ///   - syncPolicy: The time of synchronization with the disk. The default is `flush()`.
  public init(
    _ file: URL, snapshotEvery count: Int = 1_000, sync syncPolicy: JournalSyncPolicy = .onFlush
  ) throws(JournalFailure) {
    if count < 0 {
      misuse("'snapshotEvery' requires a count of 0 or more, not \(count). 0 means never.")
    }
    self.file = try JournalFile(file)
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
    let progress = RecordingState { [weak store] in store?.lastNumber }
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
      in: file, continuing: replayed.withLock { $0.take() }, snapshotEvery: snapshotDistance,
      sync: syncPolicy,
      reportingTo: failures, progress)
    let subscription = store.subscribeToCommits { writer.receive($0) }
    progress.attach(subscription)
    return subscription
  }

  /// Returns when all commits before the call are on the disk.
  ///
  /// It also waits for commits that another thread still has to deliver. It does not block the calling thread.
  /// After the end of a recording, it synchronizes the lines of that recording.
  ///
  /// Throws the failure that ended the recording. Also throws if the path no longer names the file, or if the file does
  /// not have the written length: a restart would not find the lines. Such a failure ends the recording.
  public func flush() async throws(JournalFailure) {
    let progress = recording.withLock { $0 }
    await progress?.catchUp()
    if let failure = failures.value { throw failure }
    let borrowed = BorrowedFile(file)
    let failure: JournalFailure? = await withCheckedContinuation { continuation in
      DispatchQueue.global().async { continuation.resume(returning: borrowed.synchronize()) }
    }
    guard let failure else { return }
    progress?.giveWay()
    failures.value = failure
    progress?.fail()
    throw failure
  }

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

/// A file that is released before `flush()` returns, so that the caller can open it again.
private final class BorrowedFile: Sendable {
  private let file: Lock<JournalFile?>

  init(_ file: JournalFile) { self.file = Lock(file) }

  /// Returns the failure, if there is one.
  func synchronize() -> JournalFailure? {
    let file = file.withLock { $0.take() }
    do throws(JournalFailure) {
      try file?.synchronize()
      return nil
    } catch {
      return error
    }
  }
}
