internal import MiniRex

/// The progress of a recording, and the calls of `flush()` that wait for it.
///
/// Thread-safe.
final class RecordingState: Sendable {
  private struct State: Sendable {
    /// The number of the last written commit, as the store counts.
    var written = -1
    var isStarting = true
    var isOver = false
    var hasFailed = false
    var givesWay = false
    weak var subscription: Subscription?
    var waiters: [(number: Int, continuation: CheckedContinuation<Void, Never>)] = []
  }

  private let state = Lock(State())
  /// Returns the number of the store's last commit, or `nil` if the store was deallocated.
  private let lastCommit: @Sendable () -> Int?

  init(lastCommit: @escaping @Sendable () -> Int?) { self.lastCommit = lastCommit }

  /// A Boolean value that indicates whether the recording still excludes another recording.
  var isActive: Bool {
    let (isActive, subscription) = state.withLock { state in
      state.givesWay ? (false, nil) : (!state.isOver && state.isStarting, state.subscription)
    }
    return isActive || subscription?.isSubscribed == true
  }

  /// Cancels the subscription if the recording has already failed.
  func attach(_ subscription: Subscription) {
    let hasFailed = state.withLock { state in
      state.subscription = subscription
      state.isStarting = false
      return state.hasFailed
    }
    if hasFailed { subscription.invalidate() }
  }

  /// Allows a subscriber of the failure to begin another recording.
  func giveWay() { state.withLock { $0.givesWay = true } }

  func fail() {
    let subscription = state.withLock { state in
      state.hasFailed = true
      return state.subscription
    }
    subscription?.invalidate()
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

  /// Waits until all commits before the call are written, or the recording has ended.
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
