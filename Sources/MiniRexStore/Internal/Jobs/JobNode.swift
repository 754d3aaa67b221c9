/// The jobs by their numbers, which ascend in the order of addition.
typealias JobTree<Job: Identifiable & Sendable> = PositionTree<JobNode<Job>, Never>

/// A job in the tree of its ``Jobs``.
struct JobNode<Job: Identifiable & Sendable>: Sendable {
  /// The number of the addition, unique in one value of ``Jobs``.
  ///
  /// Not encoded. An undo can use a number again for another job.
  let number: Int
  let box: JobBox<Job>
}

/// An entry, as one word.
///
/// A changed job has another object.
final class JobBox<Job: Identifiable & Sendable>: Sendable {
  let entry: JobEntry<Job>

  init(_ entry: JobEntry<Job>) { self.entry = entry }
}

/// The number of a job, ordered by the hash of its ID.
struct HashedJob: Comparable, Sendable {
  let hash: Int
  let number: Int

  static func < (one: HashedJob, other: HashedJob) -> Bool {
    (one.hash, one.number) < (other.hash, other.number)
  }
}
