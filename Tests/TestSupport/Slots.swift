import MiniRex

/// The cores of the machine, which tests take in the order of their requests.
package final class Slots: Sendable {
  private struct State {
    var free: Int
    /// FIFO, so that a test that needs several slots gets them.
    var waiters: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []

    mutating func serve() -> [CheckedContinuation<Void, Never>] {
      var served: [CheckedContinuation<Void, Never>] = []
      while let first = waiters.first, first.count <= free {
        free -= first.count
        served.append(waiters.removeFirst().continuation)
      }
      return served
    }
  }

  private let count: Int
  private let state: Lock<State>

  package init(_ count: Int) {
    self.count = count
    state = Lock(State(free: count))
  }

  /// Runs the body while it has `count` slots, or all slots if there are fewer.
  package func hold<Result>(
    _ count: Int, _ body: () async throws -> Result
  ) async rethrows -> Result {
    let count = min(count, self.count)
    await withCheckedContinuation { continuation in
      change { $0.waiters.append((count, continuation)) }
    }
    defer { change { $0.free += count } }
    return try await body()
  }

  private func change(_ body: (inout State) -> Void) {
    let served = state.withLock { state in
      body(&state)
      return state.serve()
    }
    for continuation in served { continuation.resume() }
  }
}
