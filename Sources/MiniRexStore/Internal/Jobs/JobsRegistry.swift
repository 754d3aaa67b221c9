internal import MiniRex

/// The jobs that are performed in this process.
///
/// A performer is registered until its subscription ends or its store is released.
enum JobsRegistry {
  private static let performers = Lock<[ObjectIdentifier: [any AnyJobsPerformer]]>([:])

  /// Adds a performer.
  ///
  /// - Returns: `false` if the same jobs are already performed, which is a caller's mistake.
  static func add(_ performer: some AnyJobsPerformer) -> Bool {
    let key = performer.key
    let others = performers.withLock { performers in
      defer { performers[key.root, default: []].append(performer) }
      return performers[key.root] ?? []
    }
    // Key paths are compared outside the lock.
    return !others.contains { $0.key == key }
  }

  static func remove(_ performer: some AnyJobsPerformer) {
    let root = performer.key.root
    // The last reference is released after the lock.
    _ = performers.withLock { performers -> [any AnyJobsPerformer]? in
      let old = performers[root]
      let rest = old?.filter { $0 !== performer } ?? []
      performers[root] = rest.isEmpty ? nil : rest
      return old
    }
  }

  static func of(_ root: ObjectIdentifier) -> [any AnyJobsPerformer] {
    performers.withLock { $0[root] ?? [] }
  }
}

/// The place of jobs: a key path from a store, or from a removable child of it.
struct JobsKey: Hashable, Sendable {
  let root: ObjectIdentifier
  let child: ObjectIdentifier?
  let path: any AnyKeyPath & Sendable
}

/// A performer, without its types.
protocol AnyJobsPerformer: AnyObject, Sendable {
  var key: JobsKey { get }
  /// `true` if a job runs.
  var isRunning: Bool { get }
  /// `true` if a job runs, or may begin without another commit.
  var isBusy: Bool { get }
  func status(atMost count: Int) -> JobsInspection
}

/// Performed jobs, for an inspector.
package struct JobsInspection: Sendable {
  package struct Job: Sendable {
    package let id: String
    /// `pending`, `waiting`, `running`, or `failed`.
    package let condition: String
    package let attempts: Int
    /// The time of the last change, or of the first look of `perform`.
    package let since: UnixTime
    /// The time before which the job does not start.
    package let notBefore: UnixTime?
    package let failure: String?
  }

  /// The description of the key path.
  package let path: String
  package let counts: JobCounts
  /// The numbers of attempts and of failures in this process.
  package let attempts: Int
  package let failures: Int
  /// The running, failed, waiting, and pending jobs, in this order.
  package let jobs: [Job]
}

extension Store {
  /// The performed jobs of the store, or of the parent of a scope.
  package func jobs(atMost count: Int) -> [JobsInspection] {
    JobsRegistry.of(rootIdentity).map { $0.status(atMost: count) }
  }

  /// A Boolean value that indicates whether a performed job runs.
  package var hasRunningJobs: Bool { JobsRegistry.of(rootIdentity).contains { $0.isRunning } }

  /// A Boolean value that indicates whether a performed job may send an action.
  package var hasBusyJobs: Bool { JobsRegistry.of(rootIdentity).contains { $0.isBusy } }
}
