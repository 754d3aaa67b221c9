internal import Synchronization

/// The counts of a resource in a graph.
@usableFromInline
package final class ResourceWatch: Sendable {
  private let loads = Atomic(0)
  private let failures = Atomic(0)
  /// A struct, because `Lock` would wrap a closure in two more closures whenever it is read.
  private struct Age: Sendable {
    let present: @Sendable () -> Duration?
  }

  private let presentAge = Lock<Age?>(nil)

  package init() {}

  var loadCount: Int { loads.load(ordering: .relaxed) }

  var failureCount: Int { failures.load(ordering: .relaxed) }

  var age: Duration? {
    let age = presentAge.withLock { $0 }
    return age?.present()
  }

  /// Called once, before any other thread knows the resource.
  func follow(_ age: @escaping @Sendable () -> Duration?) {
    presentAge.withLock { $0 = Age(present: age) }
  }

  func countLoad() { loads.add(1, ordering: .relaxed) }

  func countFailure() { failures.add(1, ordering: .relaxed) }
}
