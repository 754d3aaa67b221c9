internal import MiniRexJournal

/// The fault that the pending actions in a folder survive.
///
/// It also decides how often an effect runs: see the rule O8.
public struct ReplicaDurability: Sendable {
  /// Makes the file or the folder with a descriptor durable.
  typealias Synchronize = @Sendable (Int32) throws(JournalFailure) -> Void

  /// Makes the pending actions durable.
  let lines: Synchronize?
  /// Makes the file of the state and its folder durable.
  let files: Synchronize?

  /// A killed process.
  ///
  /// The operating system has the line of an action before the action commits.
  public static let written = ReplicaDurability(lines: nil, files: nil)

  /// A power failure.
  ///
  /// An action commits immediately. It is sent to the log, and so acknowledged, after its line is on the disk. Actions
  /// share the synchronizations. Before effects run, the decision about their actions is on the disk, which delays
  /// the replica by another synchronization for each burst with effects.
  public static let synchronized = ReplicaDurability(
    lines: { descriptor throws(JournalFailure) in try synchronize(descriptor) },
    files: { descriptor throws(JournalFailure) in try synchronize(descriptor) })

  /// For tests: makes files durable with closures, which return 0 if they have.
  ///
  /// - Parameter files: Also receives the folder.
  package static func synchronized(
    with lines: @escaping @Sendable (Int32) -> Int32,
    files: @escaping @Sendable (Int32) -> Int32 = { _ in 0 }
  ) -> ReplicaDurability {
    ReplicaDurability(
      lines: { descriptor throws(JournalFailure) in try check { lines(descriptor) } },
      files: { descriptor throws(JournalFailure) in try check { files(descriptor) } })
  }
}
