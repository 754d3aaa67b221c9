internal import MiniRex
package import Synchronization

/// The factor of the limits of `next`, which the tests of this package raise on a busy machine.
package let limitFactor = Atomic(1)

/// The updates of a `Recorder`, shared with its callback.
final class RecorderLog<Update: Sendable>: Sendable {
  private struct Waiter {
    let id: Int
    let count: Int
    let continuation: CheckedContinuation<Void, Never>
  }

  private struct State {
    var updates: [Update] = []
    /// The number of updates that `next` returned.
    var taken = 0
    var hasEnded = false
    /// The subscription is finished or canceled.
    var isClosed = false
    var lastID = 0
    /// FIFO.
    var waiters: [Waiter] = []
    /// The results of waiters that are being resumed.
    var results: [Int: [Update]] = [:]

    mutating func take(_ count: Int) -> [Update]? {
      isClosed || count <= updates.count - taken ? takeUp(to: count) : nil
    }

    mutating func takeUp(to count: Int) -> [Update] {
      let end = min(taken + count, updates.count)
      defer { taken = end }
      return Array(updates[taken..<end])
    }

    mutating func serve() -> [Waiter] {
      var served: [Waiter] = []
      while let waiter = waiters.first, let result = take(waiter.count) {
        results[waiter.id] = result
        served.append(waiters.removeFirst())
      }
      return served
    }
  }

  private let state = Lock(State())

  var updates: [Update] { state.withLock { $0.updates } }

  var hasEnded: Bool { state.withLock { $0.hasEnded } }

  var isClosed: Bool { state.withLock { $0.isClosed } }

  /// The number of pending calls of `next`.
  var waiterCount: Int { state.withLock { $0.waiters.count } }

  func append(_ update: Update) {
    change { $0.updates.append(update) }
  }

  func end() {
    change { state in
      state.hasEnded = true
      state.isClosed = true
    }
  }

  func close() {
    change { $0.isClosed = true }
  }

  private func change(_ body: (inout State) -> Void) {
    let served = state.withLock { state in
      body(&state)
      return state.serve()
    }
    for waiter in served { waiter.continuation.resume() }
  }

  func next(_ count: Int, within limit: Duration) async -> [Update] {
    if count < 0 { misuse("'next' requires a count of 0 or more, not \(count).") }
    if let updates = state.withLock({ $0.waiters.isEmpty ? $0.take(count) : nil }) {
      return updates
    }
    let id = state.withLock { state in
      state.lastID += 1
      return state.lastID
    }
    await withTaskGroup(of: Void.self) { group in
      group.addTask { [self] in
        if await isIdle(for: limit) { cancel(id, count) }
      }
      await wait(id, count)
      group.cancelAll()
    }
    return state.withLock { $0.results.removeValue(forKey: id) } ?? []
  }

  /// Returns `false` if the task is canceled first.
  private func isIdle(for limit: Duration) async -> Bool {
    var (seen, waits) = (-1, 0.0)
    while waits < 1_000 {
      let count = state.withLock { $0.updates.count }
      let wait = 1 / Double(limitFactor.load(ordering: .relaxed))
      (seen, waits) = (count, count == seen ? waits + wait : 0)
      do { try await Task.sleep(for: limit / 1_000) } catch { return false }
    }
    return true
  }

  private func wait(_ id: Int, _ count: Int) async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { wait(Waiter(id: id, count: count, continuation: $0)) }
    } onCancel: {
      cancel(id, count)
    }
  }

  private func wait(_ waiter: Waiter) {
    let served = state.withLock { state in
      if state.results[waiter.id] != nil { return [waiter] }
      state.waiters.append(waiter)
      return state.serve()
    }
    for waiter in served { waiter.continuation.resume() }
  }

  /// The cancellation may precede the wait.
  ///
  /// Earlier waiters take the updates first.
  private func cancel(_ id: Int, _ count: Int) {
    let served: [Waiter] = state.withLock { state in
      if state.results[id] != nil { return [] }
      let index = state.waiters.firstIndex { $0.id == id }
      state.results[id] = (index ?? state.waiters.count) == 0 ? state.takeUp(to: count) : []
      return (index.map { [state.waiters.remove(at: $0)] } ?? []) + state.serve()
    }
    for waiter in served { waiter.continuation.resume() }
  }
}
