import MiniRex

/// The cores of the machine, which tests take in the order of their requests.
///
/// A waiting test that needs one slot is admitted before waiting tests that need several, because a slot is idle while
/// they wait for another.
package final class Slots: Sendable {
  private struct State {
    typealias Waiter = (count: Int, continuation: CheckedContinuation<Void, Never>)

    var free: Int
    private var light: [Waiter] = []
    private var heavy: [Waiter] = []

    init(free: Int) { self.free = free }

    var waiterCount: Int { light.count + heavy.count }

    mutating func append(_ waiter: Waiter) {
      if waiter.count == 1 { light.append(waiter) } else { heavy.append(waiter) }
    }

    mutating func serve() -> [CheckedContinuation<Void, Never>] {
      var served: [CheckedContinuation<Void, Never>] = []
      while let first = light.first ?? heavy.first, first.count <= free {
        free -= first.count
        served.append(first.continuation)
        if light.isEmpty { heavy.removeFirst() } else { light.removeFirst() }
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
      change { $0.append((count, continuation)) }
    }
    defer { change { $0.free += count } }
    return try await body()
  }

  /// The number of requests that wait.
  package var waiterCount: Int { state.withLock { $0.waiterCount } }

  private func change(_ body: (inout State) -> Void) {
    let served = state.withLock { state in
      body(&state)
      return state.serve()
    }
    for continuation in served { continuation.resume() }
  }
}
