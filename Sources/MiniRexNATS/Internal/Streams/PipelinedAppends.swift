#if NATS
internal import MiniRex

/// Appends in order, with a limited number in flight.
final class PipelinedAppends: Sendable {
  /// Appends the message with a number, and calls the closure with the answer.
  typealias Append =
    @Sendable (Int, @escaping @Sendable (Result<UInt64, NATSError>) -> Void) -> Subscription

  private struct State: Sendable {
    var next = 0
    var done = 0
    var sequences: [UInt64]
    /// The appends in flight, except those that were answered before they could be added.
    var tokens: [Int: Subscription] = [:]
    var answered: Set<Int> = []
    var isFull = false
    /// A Boolean value that indicates whether a thread is sending.
    var isFilling = false
    /// The last reported progress.
    var reported = 0
    /// A Boolean value that indicates whether a thread is reporting.
    var isReporting = false
    var isOver = false
  }

  private let count: Int
  private let window: Int
  private let append: Append
  private let report: @Sendable (Int) -> Void
  private let finish: @Sendable (Result<[UInt64], NATSError>) -> Void
  private let state: Lock<State>

  init(
    count: Int, window: Int, report: @escaping @Sendable (Int) -> Void,
    finish: @escaping @Sendable (Result<[UInt64], NATSError>) -> Void,
    _ append: @escaping Append
  ) {
    (self.count, self.window, self.append) = (count, window, append)
    (self.report, self.finish) = (report, finish)
    state = Lock(State(sequences: [UInt64](repeating: 0, count: count)))
  }

  /// Sends until the window is full.
  ///
  /// One thread sends at a time, so the messages are sent in order.
  func fill() {
    if count == 0 { return finish(.success([])) }
    let isFirst = state.withLock { state in
      defer { state.isFilling = true }
      return !state.isFilling
    }
    // The other thread sees the answers that this thread has counted.
    if !isFirst { return }
    while let index = state.withLock({ begin(&$0) }) {
      let token = append(index) { [self] in react($0, to: index) }
      // Release outside the lock.
      let left = state.withLock { state -> Subscription? in
        if state.isOver || state.answered.remove(index) != nil { return token }
        state.tokens[index] = token
        return nil
      }
      left?.invalidate()
    }
  }

  /// Returns the next message to send, or `nil` if the window is full.
  private func begin(_ state: inout State) -> Int? {
    let inFlight = state.next - state.done
    // Messages that are sent together cost less. More of them would block the callback that sends them.
    if inFlight >= window {
      state.isFull = true
    } else if inFlight <= window - max(1, min(64, window / 8)) {
      state.isFull = false
    }
    if state.isOver || state.next == count || state.isFull {
      state.isFilling = false
      return nil
    }
    defer { state.next += 1 }
    return state.next
  }

  private func react(_ result: Result<UInt64, NATSError>, to index: Int) {
    switch result {
    case .success(let sequence):
      let token = state.withLock { state -> Subscription? in
        // A concurrent timeout may answer twice.
        if state.isOver || state.sequences[index] > 0 { return nil }
        state.sequences[index] = sequence
        state.done += 1
        let token = state.tokens.removeValue(forKey: index)
        if token == nil { state.answered.insert(index) }
        return token
      }
      withExtendedLifetime(token) {}
      fill()
      reportAnswers()
    case .failure(let error):
      if state.withLock({ $0.sequences[index] > 0 }) { return }
      cancel()
      finish(.failure(error))
    }
  }

  /// Reports the number of answers, unless another thread does, and then finishes.
  private func reportAnswers() {
    let isFirst = state.withLock { state in
      defer { state.isReporting = true }
      return !state.isReporting
    }
    if !isFirst { return }
    while let done = state.withLock({ takeProgress(&$0) }) {
      report(done)
      if done == count { finish(.success(state.withLock { $0.sequences })) }
    }
  }

  private func takeProgress(_ state: inout State) -> Int? {
    if state.isOver || state.reported == state.done {
      state.isReporting = false
      return nil
    }
    state.reported = state.done
    return state.done
  }

  func cancel() {
    let tokens = state.withLock { state in
      defer { state.tokens = [:] }
      state.isOver = true
      return state.tokens
    }
    for token in tokens.values { token.invalidate() }
  }
}
#endif
