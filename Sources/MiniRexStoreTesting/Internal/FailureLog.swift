internal import MiniRex

/// The failures of one test, including the failures that its body caught.
final class FailureLog: Sendable {
  private struct Content {
    var failures: [TestStoreFailure] = []
    /// The errors of expectations, which are failures only if the body catches them.
    var unthrown: [TestStoreFailure] = []
  }

  private static let limit = 5

  private let onFailure: (@Sendable (TestStoreFailure) -> Void)?
  private let content = Lock(Content())

  init(_ onFailure: (@Sendable (TestStoreFailure) -> Void)?) { self.onFailure = onFailure }

  var isEmpty: Bool { content.withLock { $0.failures.isEmpty } }

  func add(_ failure: TestStoreFailure) {
    content.withLock { $0.failures.append(failure) }
    onFailure?(failure)
  }

  func addUnthrown(_ failure: TestStoreFailure) {
    content.withLock { $0.unthrown.append(failure) }
  }

  /// Reports the errors that the body caught.
  func addCaught() {
    for failure in content.withLock({ $0.unthrown }) { add(failure) }
  }

  /// Throws the error that ended the body, unless it is a failure.
  func rethrow(_ error: any Error) throws {
    let failures = content.withLock { $0.failures }
    if let failure = error as? TestStoreFailure, failures.contains(failure) { return }
    guard onFailure == nil, let first = failures.first else { throw error }
    throw TestStoreFailure(
      first, description: "\(summary(failures))\nThe test then threw \(error).")
  }

  /// Throws the failures, unless they were recorded.
  func throwAll() throws {
    let failures = content.withLock { $0.failures }
    guard onFailure == nil, let first = failures.first else { return }
    throw TestStoreFailure(first, description: summary(failures))
  }

  private func summary(_ failures: [TestStoreFailure]) -> String {
    let rest = failures.count - Self.limit
    return failures.prefix(Self.limit).map(\.description).joined(separator: "\n")
      + (rest > 0 ? "\nand \(rest) more failures" : "")
  }
}
