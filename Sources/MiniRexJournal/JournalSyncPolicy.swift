/// A policy that decides when a journal synchronizes its file with the disk.
///
/// A written line survives the end of the program, even by `kill -9`. A synchronized line survives a power loss.
public enum JournalSyncPolicy: Sendable, Hashable {
  /// Synchronizes each commit before the store delivers it to subscribers that joined after the recording.
  ///
  /// Commits that are queued behind it share the synchronization.
  case everyCommit
  /// Synchronizes at most this duration after the first line that is not on the disk.
  ///
  /// A power loss takes the commits of that duration at most. An idle journal does not synchronize.
  case every(Duration)
  /// Synchronizes when you call `flush()`. Before that, the operating system decides.
  case onFlush
}
