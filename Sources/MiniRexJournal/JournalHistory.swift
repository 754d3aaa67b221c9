internal import MiniRex

/// The part of its past that a journal keeps on the disk.
///
/// A journal deletes entire files, oldest first, when it begins a new file. The newest state is never deleted.
public struct JournalHistory: Sendable, Hashable {
  enum Span: Sendable, Hashable {
    case everything
    case none
    case commits(Int)
    case seconds(Int)
  }

  let span: Span

  /// Deletes nothing.
  ///
  /// No policy deletes the closed files of another branch, which remain when the newest file was moved away, or an older
  /// copy of it was restored. They move to a separate folder.
  public static let everything = JournalHistory(span: .everything)

  /// Keeps the newest state and the commits after it, in one file.
  ///
  /// The journal replaces the file when its lines weigh as much as the state, at least 1 MiB. For a state above 16 KiB,
  /// three quarters of that are enough.
  public static let latestState = JournalHistory(span: .none)

  /// Keeps at least this number of commits.
  ///
  /// - Parameter count: The number of commits. Traps if less than 1.
  public static func last(commits count: Int) -> JournalHistory {
    if count < 1 { misuse("'last(commits:)' requires a count of 1 or more, not \(count).") }
    return JournalHistory(span: .commits(count))
  }

  /// Keeps at least the commits of this duration.
  ///
  /// The duration is measured by the clock of the system. A clock that is wrong for one commit ends no commit early. See
  /// <doc:OperatingAJournal> for a clock that is wrong for longer.
  ///
  /// - Parameter duration: The duration, rounded up to a second. Traps if less than one second.
  public static func last(for duration: Duration) -> JournalHistory {
    if duration < .seconds(1) {
      misuse("'last(for:)' requires a duration of one second or more, not \(duration).")
    }
    let (seconds, attoseconds) = duration.components
    return JournalHistory(span: .seconds(Int(seconds) + (attoseconds > 0 ? 1 : 0)))
  }
}
