/// The jobs that must not run at the same time.
public struct JobOrder<Job: Identifiable & Sendable>: Sendable {
  let line: @Sendable (Job) -> AnyHashable

  /// The order of addition, in which all jobs may run concurrently.
  public static var addition: JobOrder { JobOrder { $0.id } }

  /// Returns an order in which the jobs of one key run one after another, concurrently with the jobs of other keys.
  ///
  /// ```swift
  /// order: .serially(by: \.customer),
  /// ```
  ///
  /// A job whose attempt failed keeps its turn until it succeeds, is removed, or is given up. A job
  /// that waits for its first attempt keeps no turn.
  ///
  /// - Parameter key: A closure that returns the key. It runs once for each change of a job.
  public static func serially<Key: Hashable & Sendable>(
    by key: @escaping @Sendable (Job) -> Key
  ) -> JobOrder {
    JobOrder { AnyHashable(key($0)) }
  }
}
