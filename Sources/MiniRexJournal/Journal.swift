internal import Dispatch
public import MiniRex
public import MiniRexStore

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The actions of a store in a file, from which its state can be had again.
///
/// ```swift
/// let journal = try Journal<Board, BoardAction>(file)
/// let store = Store(try journal.replay(Board(), reducer: reducer), reducer: reducer)
/// let recording = journal.record(store)
/// ```
///
/// Each commit is one line of JSON, which is with the operating system when an uncontended `send`
/// returns, so that it outlives a program that is killed. The file belongs to the journal for as long as
/// this or a recording of it is there.
public final class Journal<State: Codable & Sendable, Action: Codable & Sendable>: Sendable {
  let file: JournalFile
  private let snapshotDistance: Int
  private let synchronising: JournalSynchronising
  let failures = PublishedProperty<JournalFailure?>(nil)
  private let recording = Lock<RecordingProgress?>(nil)

  /// Opens a file, and makes it if it is not there.
  ///
  /// What was being written when a program was killed is the beginning of a line: it does not count, and
  /// is cut off when the next recording begins.
  ///
  /// - Parameters:
  ///   - file: Where the lines are. Its folder has to be there.
  ///   - count: After how many actions the whole state is written too, so that not all of them have to be
  ///     read; 0 for never.
  ///   - synchronising: When lines are brought to the disk.
  public init(
    _ file: URL, snapshotEvery count: Int = 1_000, synchronising: JournalSynchronising = .onFlush
  ) throws(JournalFailure) {
    if count < 0 {
      misuse("A journal cannot write its state every \(count) actions. 0 stands for never.")
    }
    self.file = try JournalFile(file)
    snapshotDistance = count
    self.synchronising = synchronising
  }

  /// Writes the state as it is, then each commit, until the token ends or the store goes.
  ///
  /// The lines are written where the store's `events` are told, in its order. An action that is sent in a
  /// callback is written when it is told, as one that another thread delivers. A write that fails ends
  /// the recording, and harms no `send`; ``failure`` and ``flush()`` tell it.
  ///
  /// A journal records one store at a time, and not a scope, since its store tells the actions.
  ///
  /// - Parameter store: Whose actions are written.
  /// - Returns: What ends the recording when it goes.
  public func record(_ store: Store<State, Action>) -> Subscription {
    if store.isScope {
      misuse("A scope was recorded. Record its store, which tells the actions of all its parts.")
    }
    let progress = RecordingProgress { [weak store] in store?.lastNumber }
    let former = recording.withLock { recording in
      defer { recording = progress }
      return recording
    }
    if former?.isActive == true {
      misuse(
        "A journal was told to record while it records. End that recording first, or use a journal "
          + "with a file of its own for each store.")
    }
    failures.value = nil
    let writer = JournalRecording<State, Action>(
      in: file, snapshotEvery: snapshotDistance, synchronising: synchronising,
      tellingFailuresTo: failures, progress)
    let token = store.follow { writer.receive($0) }
    progress.attach(token)
    return token
  }

  /// Returns when all that was committed before the call is on the disk.
  ///
  /// It waits for commits that another thread is about to tell, and does not hold the thread. After a
  /// recording it does so for what that has written. It throws why the recording has failed, if it has; a
  /// disk that cannot take what was written ends it.
  public func flush() async throws(JournalFailure) {
    let progress = recording.withLock { $0 }
    await progress?.catchUp()
    if let failure = failures.value { throw failure }
    let borrowed = BorrowedFile(file)
    let failure: JournalFailure? = await withCheckedContinuation { continuation in
      DispatchQueue.global().async { continuation.resume(returning: borrowed.synchronise()) }
    }
    guard let failure else { return }
    progress?.giveWay()
    failures.value = failure
    progress?.fail()
    throw failure
  }

  /// The number of the last line: how many commits there have been, in all runs of the program.
  public var lastNumber: Int { file.extent.number }

  /// Why nothing is recorded any more; `nil` while all is well, and when a recording begins.
  public var failure: PublishedValue<JournalFailure?> { failures.publisher }
}

/// A file that is given back before whoever waits goes on, and may open it again.
private final class BorrowedFile: Sendable {
  private let file: Lock<JournalFile?>

  init(_ file: JournalFile) { self.file = Lock(file) }

  /// - Returns: Why it could not be done.
  func synchronise() -> JournalFailure? {
    let file = file.withLock { $0.take() }
    do throws(JournalFailure) {
      try file?.synchronise()
      return nil
    } catch {
      return error
    }
  }
}
