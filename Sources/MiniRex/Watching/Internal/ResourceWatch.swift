internal import Synchronization

/// The counts of a resource in a graph.
@usableFromInline
package final class ResourceWatch: Sendable {
  private let loads = Atomic(0)
  private let failures = Atomic(0)
  private let presentAge = Lock<(@Sendable () -> Duration?)?>(nil)

  package init() {}

  var loadCount: Int { loads.load(ordering: .relaxed) }

  var failureCount: Int { failures.load(ordering: .relaxed) }

  var age: Duration? {
    let age = presentAge.withLock { $0 }
    return age?()
  }

  /// Called once, before any other thread knows the resource.
  func follow(_ age: @escaping @Sendable () -> Duration?) {
    presentAge.withLock { $0 = age }
  }

  func countLoad() { loads.add(1, ordering: .relaxed) }

  func countFailure() { failures.add(1, ordering: .relaxed) }
}
