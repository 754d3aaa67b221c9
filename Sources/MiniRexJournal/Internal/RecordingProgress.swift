internal import MiniRex

/// How far a recording has come, for whoever waits for it.
final class RecordingProgress: Sendable {
  private struct State: Sendable {
    /// Of the store's own numbers.
    var written = -1
    var isStarting = true
    var isOver = false
    var hasFailed = false
    var givesWay = false
    weak var token: Subscription?
    var waiters: [(number: Int, continuation: CheckedContinuation<Void, Never>)] = []
  }

  private let state = Lock(State())
  /// The number of the last commit of the store that is recorded; `nil` if that has gone.
  private let lastCommit: @Sendable () -> Int?

  init(lastCommit: @escaping @Sendable () -> Int?) { self.lastCommit = lastCommit }

  /// True until the recording has been ended by somebody.
  var isActive: Bool {
    let (isActive, token) = state.withLock { state in
      state.givesWay ? (false, nil) : (!state.isOver && state.isStarting, state.token)
    }
    return isActive || token?.isSubscribed == true
  }

  /// Ends the token of a recording that has failed in the meantime.
  func attach(_ token: Subscription) {
    let hasFailed = state.withLock { state in
      state.token = token
      state.isStarting = false
      return state.hasFailed
    }
    if hasFailed { token.invalidate() }
  }

  /// Lets whoever hears of a failure begin another recording.
  func giveWay() { state.withLock { $0.givesWay = true } }

  func fail() {
    let token = state.withLock { state in
      state.hasFailed = true
      return state.token
    }
    token?.invalidate()
  }

  func hasWritten(_ number: Int) {
    resume { state in
      state.written = number
      return state.waiters.isEmpty ? { _ in false } : { $0 <= number }
    }
  }

  func end() {
    resume { state in
      state.isOver = true
      return { _ in true }
    }
  }

  private func resume(_ change: (inout State) -> (Int) -> Bool) {
    let ready = state.withLock { state in
      let isReady = change(&state)
      let ready = state.waiters.filter { isReady($0.number) }
      state.waiters.removeAll { isReady($0.number) }
      return ready
    }
    for waiter in ready { waiter.continuation.resume() }
  }

  /// Waits until all that was committed before the call is written, or nothing more will be.
  func catchUp() async {
    let number = lastCommit() ?? Int.max
    await withCheckedContinuation { continuation in
      let isThere = state.withLock { state in
        if state.isOver || state.hasFailed || state.written >= number { return true }
        state.waiters.append((number, continuation))
        return false
      }
      if isThere { continuation.resume() }
    }
  }
}
