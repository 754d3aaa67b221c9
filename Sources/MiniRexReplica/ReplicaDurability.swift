#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// The fault that the pending actions in a folder survive.
public struct ReplicaDurability: Sendable {
  /// Makes the file with a descriptor durable, and returns 0 if it has.
  let synchronize: (@Sendable (Int32) -> Int32)?

  /// A killed process.
  ///
  /// The operating system has the line of an action before the action commits.
  public static let written = ReplicaDurability(synchronize: nil)

  /// A power failure.
  ///
  /// An action commits immediately. It is sent to the log, and so acknowledged, after its line is on the disk. Actions
  /// share the synchronizations.
  public static let synchronized = ReplicaDurability { fdatasync($0) }

  /// For tests: makes the file durable with a closure.
  package static func synchronized(
    with synchronize: @escaping @Sendable (Int32) -> Int32
  ) -> ReplicaDurability { ReplicaDurability(synchronize: synchronize) }
}
