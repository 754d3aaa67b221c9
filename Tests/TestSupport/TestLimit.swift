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
    "\(place.fileID):\(place.line): '\(name)'", ticks(limit), ticks(grace)
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

/// A tenth of a second is a tick.
private func ticks(_ duration: Duration) -> Int { Int(duration / .milliseconds(100)) }

/// Counts the time of the running tests on its own thread, because tests can block all threads of the pool.
private final class TestClock: Sendable {
  private struct Entry {
    let name: String
    let limit: Int
    let grace: Int
    let onExpiry: @Sendable () -> Void
    var age = 0
  }

  private struct State {
    var entries: [Int: Entry] = [:]
    var lastID = 0

    mutating func tick() -> [Entry] {
      for id in entries.keys { entries[id]?.age += 1 }
      return Array(entries.values)
    }
  }

  static let shared = TestClock()
  private let state = Lock(State())

  private init() {
    Thread.detachNewThread { [self] in
      while true {
        Thread.sleep(forTimeInterval: 0.1)
        check(state.withLock { $0.tick() })
      }
    }
  }

  func begin(
    _ name: String, _ limit: Int, _ grace: Int, _ onExpiry: @escaping @Sendable () -> Void
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

  private func check(_ entries: [Entry]) {
    for entry in entries where entry.age == entry.limit { entry.onExpiry() }
    guard let hung = entries.first(where: { $0.age == $0.limit + $0.grace }) else { return }
    let others = entries.map(\.name).filter { $0 != hung.name }.sorted()
    let text =
      "\(hung.name) continues after its limit, so the process ends.\n"
      + others.map { "\($0) was running.\n" }.joined()
    try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
    _exit(EXIT_FAILURE)
  }
}
