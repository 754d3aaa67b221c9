/// A policy that decides when a journal synchronizes its file with the disk.
///
/// A written line survives the end of the program, also by `kill -9`. A synchronized line survives a power loss.
public enum JournalSyncPolicy: Sendable {
  /// Synchronizes each commit before the store delivers the next commit.
  case everyCommit
  /// Synchronizes when you call `flush()`. Before that, the operating system decides.
  case onFlush
}

/// Unavailable; use ``JournalSyncPolicy``.
@available(*, unavailable, renamed: "JournalSyncPolicy")
public typealias JournalSynchronising = JournalSyncPolicy
