internal import CLibrary
public import MiniRexStore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A reader of a journal that another program may be writing.
///
/// ```swift
/// let reader = try JournalReader<Board, BoardAction>(file)
/// for try await entry in reader.entries(after: projection.number) {
///   projection.apply(entry)
/// }
/// ```
///
/// It takes no lock, and delays neither the writer nor its compaction. It sees complete lines only. It writes nothing,
/// and works in any process that may read the file. Each call opens the files again.
public final class JournalReader<State: Codable & Sendable, Action: Codable & Sendable>: Sendable {
  let path: String
  let upcasting: JournalUpcasting

  /// Creates a reader of an existing journal.
  ///
  /// Throws `JournalFailure.file(.ENOENT)` if there is no file.
  ///
  /// - Parameters:
  ///   - file: The URL of the journal.
  ///   - upcasting: The changes that make today's actions and states of recorded ones.
  public init(_ file: URL, upcasting: JournalUpcasting = JournalUpcasting()) throws(JournalFailure)
  {
    path = try resolvedPath(file)
    self.upcasting = upcasting
    _ = try openRegularFile(path, O_RDONLY)
  }

  /// Emits the commits after a number, and then each new commit.
  ///
  /// The entries have no gap and no repetition, even while the journal is compacted. If a recording began with another
  /// state, an entry has that state and the number of the commit before it. After a restart from that number, the
  /// state is emitted again.
  ///
  /// At the end of the file, the sequence looks for new lines after each interval. It ends when its task is canceled. It
  /// throws ``JournalFailure/notKept(first:)`` if the journal has deleted the commits after the number, and
  /// ``JournalFailure/damaged(atByte:)`` at a damaged line. Then begin again with the state that
  /// ``replay(_:upTo:reducer:)`` returns.
  ///
  /// Each iteration reads on its own. It reads on the thread pool of Swift tasks.
  ///
  /// - Parameters:
  ///   - number: The number of the last commit that the caller has. 0 for all commits.
  ///   - durableOnly: `true` to omit commits that a power loss could still revoke. An entry is then emitted when the
  ///     line after the next synchronization is written, and kept in memory until then.
  ///   - interval: The time between two looks at the end of the file, at least a millisecond. Traps if less than 0.
  public func entries(
    after number: Int, durableOnly: Bool = false, every interval: Duration = .milliseconds(100)
  ) -> JournalEntries<State, Action> {
    JournalEntries(
      path: path, upcasting: upcasting, after: number, durableOnly: durableOnly, interval: interval)
  }

  /// Returns the state after a commit, by reducing the recorded actions again.
  ///
  /// It has the rules, the cost, and the errors of ``Journal/replay(_:upTo:reducer:)``.
  ///
  /// - Parameters:
  ///   - initial: The state if nothing was recorded.
  ///   - number: The number of the last commit that counts. By default, all commits count.
  ///   - reducer: The store's reducer. Its effects are ignored.
  public func replay(
    _ initial: State, upTo number: Int? = nil, reducer: Reducer<State, Action>
  ) throws(JournalFailure) -> State {
    let files = try JournalFiles(reading: path)
    let replay = JournalReplay<State, Action>(
      newest: files.newest, segments: files.segments, decoder: JournalDecoder(upcasting))
    return try replay.state(initial, upTo: number, reducer)
  }

  /// Copies the journal to a folder, and returns when the copy is on the disk.
  ///
  /// The copy is the journal at one instant, with every commit that was written before the call. Closed files are linked
  /// if the folder is on the same disk. Otherwise they are copied. Open the copy as a journal to check it, or copy it back to
  /// restore it.
  ///
  /// Throws `JournalFailure.file(.EEXIST)` if the folder has a file with the journal's name. A backup that was
  /// interrupted has no such file.
  ///
  /// - Parameter folder: The URL of the folder, which is created if necessary.
  public func backup(to folder: URL) throws(JournalFailure) {
    try JournalBackup(of: JournalFiles(reading: path), named: path).write(to: folder)
  }
}
