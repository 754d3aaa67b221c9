import Foundation
import MiniRex
package import Testing

/// Runs the body of a test, and cancels it at the limit.
///
/// Ends the process if the body continues beyond the grace, because a blocked thread would delay the other tests until
/// their limits.
package func limited(
  to limit: Duration, grace: Duration = .seconds(10), _ name: String,
  at place: SourceLocation = #_sourceLocation,
  _ body: @concurrent @Sendable () async throws -> Void
) async throws {
  let (expiry, continuation) = AsyncStream.makeStream(of: Never.self)
  let id = TestClock.shared.begin(
    "\(place.fileID):\(place.line): '\(name)'", limit, grace
  ) {
    continuation.finish()
  }
  defer { TestClock.shared.end(id) }
  try await withoutActuallyEscaping(body) { body in
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await body() }
      group.addTask {
        for await _ in expiry {}
        if !Task.isCancelled {
          Issue.record("The test exceeded its limit of \(limit).", sourceLocation: place)
        }
      }
      defer { group.cancelAll() }
      try await group.next()
    }
  }
}

/// Counts the time of the running tests on its own thread, because tests can block all threads of the pool.
private final class TestClock: Sendable {
  private struct Entry {
    let name: String
    let limit: Duration
    let grace: Duration
    let onExpiry: @Sendable () -> Void
    var age = Duration.zero
    var hasExpired = false
  }

  private struct State {
    var entries: [Int: Entry] = [:]
    var lastID = 0

    /// Returns the entries that have expired in this tick, and the name of an entry whose grace is over.
    mutating func tick(_ duration: Duration) -> (expired: [Entry], hung: String?) {
      var expired: [Entry] = []
      for (id, var entry) in entries {
        entry.age += duration
        if entry.age >= entry.limit, !entry.hasExpired {
          entry.hasExpired = true
          expired.append(entry)
        }
        entries[id] = entry
      }
      return (expired, entries.values.first { $0.age >= $0.limit + $0.grace }?.name)
    }
  }

  static let shared = TestClock()
  private let state = Lock(State())

  private init() {
    Thread.detachNewThread { [self] in
      while true {
        Thread.sleep(forTimeInterval: 0.1)
        let crowding = measureCrowding()
        let (expired, hung) = state.withLock { $0.tick(.milliseconds(100) / crowding) }
        for entry in expired { entry.onExpiry() }
        if let hung { endProcess(hung) }
      }
    }
  }

  func begin(
    _ name: String, _ limit: Duration, _ grace: Duration, _ onExpiry: @escaping @Sendable () -> Void
  ) -> Int {
    state.withLock { state in
      state.lastID += 1
      state.entries[state.lastID] = Entry(
        name: name, limit: limit, grace: grace, onExpiry: onExpiry)
      return state.lastID
    }
  }

  func end(_ id: Int) {
    _ = state.withLock { $0.entries.removeValue(forKey: id) }
  }

  private func endProcess(_ hung: String) -> Never {
    let others = state.withLock { $0.entries.values.map(\.name) }.filter { $0 != hung }.sorted()
    let text =
      "\(hung) continues after its limit, so the process ends.\n"
      + others.map { "\($0) was running.\n" }.joined()
    try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
    _exit(EXIT_FAILURE)
  }
}
