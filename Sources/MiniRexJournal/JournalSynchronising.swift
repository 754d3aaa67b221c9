/// When the lines of a journal are brought to the disk.
///
/// A line that is with the operating system outlives the program, however that ends; one that is on the
/// disk outlives the machine's loss of power too.
public enum JournalSynchronising: Sendable {
  /// Before the next commit is told: each waits for the disk.
  case everyCommit
  /// When `flush()` is called, or when the operating system sees fit.
  case onFlush
}
