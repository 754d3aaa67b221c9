import Testing

/// A load whose answers the test decides, one request after the other.
package final class Backend: Sendable {
  package struct Failed: Error, Hashable {
    package let number: Int

    package init(_ number: Int) { self.number = number }
  }

  private struct State {
    var count = 0
    var pending: [Int: CheckedContinuation<Int, any Error>] = [:]
    /// The answers that arrived before their requests.
    var early: [Int: Result<Int, any Error>] = [:]
    var canceled: Set<Int> = []
  }

  private let state = Shared(State())

  package init() {}

  /// The number of requests so far.
  package var count: Int { state.value.count }

  /// The numbers of the canceled requests.
  package var canceled: Set<Int> { state.value.canceled }

  /// Makes a request, and throws `CancellationError` when it is canceled.
  package func load() async throws -> Int {
    try await load(ignoringCancellation: false)
  }

  /// Makes a request that continues after its cancellation.
  package func loadStubbornly() async throws -> Int {
    try await load(ignoringCancellation: true)
  }

  private func load(ignoringCancellation: Bool) async throws -> Int {
    let number = state.change { state in
      state.count += 1
      return state.count
    }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let early = state.change { state -> Result<Int, any Error>? in
          if state.canceled.contains(number), !ignoringCancellation {
            return .failure(CancellationError())
          }
          if let early = state.early.removeValue(forKey: number) { return early }
          state.pending[number] = continuation
          return nil
        }
        if let early { continuation.resume(with: early) }
      }
    } onCancel: {
      let continuation = state.change { state in
        state.canceled.insert(number)
        return ignoringCancellation ? nil : state.pending.removeValue(forKey: number)
      }
      continuation?.resume(throwing: CancellationError())
    }
  }

  /// Answers a request, even in advance.
  package func answer(_ number: Int, _ value: Int) { answer(number, .success(value)) }

  package func fail(_ number: Int) { answer(number, .failure(Failed(number))) }

  private func answer(_ number: Int, _ result: Result<Int, any Error>) {
    let continuation = state.change { state in
      let continuation = state.pending.removeValue(forKey: number)
      if continuation == nil { state.early[number] = result }
      return continuation
    }
    continuation?.resume(with: result)
  }

  /// Waits for a number of requests.
  package func requests(_ count: Int) async {
    await until { self.count >= count }
  }

  /// Waits until a number of requests is canceled.
  package func cancellations(_ count: Int) async {
    await until { self.canceled.count >= count }
  }
}
