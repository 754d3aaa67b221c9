internal import Dispatch
internal import MiniRex

// A flush is ready when its commit is written, or when the recording has ended. One job at a time
// synchronizes the file for all flushes that are ready when it begins.
extension RecordingState {
  func synchronize(after duration: Duration) {
    // Dispatch may delay a timer by a tenth.
    let seconds = 0.9 * (duration / .seconds(1))
    DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { [self] in
      let written = state.withLock { state in
        state.hasTimer = false
        return state.written
      }
      if synchronize() == nil { state.withLock { $0.durable = max($0.durable, written) } }
    }
  }

  func flush() async throws(JournalFailure) {
    try await flush(through: lastCommit() ?? Int.max, isExact: false)
  }

  func flush(through number: Int) async throws(JournalFailure) {
    try await flush(through: number, isExact: true)
  }

  private func flush(through number: Int, isExact: Bool) async throws(JournalFailure) {
    if isExact, state.withLock({ number <= $0.durable }) { return }
    let failure = await withCheckedContinuation { continuation in
      let starts = state.withLock { state in
        state.flushes.append(Flush(number: number, isExact: isExact, continuation: continuation))
        return state.serves()
      }
      if starts { startServing() }
    }
    if let failure { throw failure }
  }

  func startServing() { DispatchQueue.global().async { [self] in serve() } }

  private func serve() {
    var goesOn = true
    while goesOn {
      gather()
      let (written, hasEnded, failure) = state.withLock { ($0.written, $0.hasEnded, $0.failure) }
      let ready: [Flush]
      let result = failure ?? synchronize()
      // After the end of the recording, none of its later lines can vouch for these lines.
      if hasEnded, result == nil { file.vouch() }
      (ready, goesOn) = state.withLock { state in
        if result == nil { state.durable = max(state.durable, written) }
        let isServed = { (flush: Flush) in hasEnded || result != nil || flush.number <= written }
        let ready = state.flushes.filter(isServed)
        state.flushes.removeAll(where: isServed)
        state.isServing = false
        return (ready, state.serves())
      }
      for flush in ready {
        let isMissing = flush.isExact && flush.number > written
        flush.continuation.resume(returning: result ?? (isMissing ? .notRecording : nil))
      }
    }
  }

  /// Waits until the commits of all flushes are written, but no longer than a synchronization takes.
  ///
  /// `write` blocks during a synchronization. Without this pause, the next synchronization would begin after the first
  /// of the blocked lines.
  private func gather() {
    let limit = min(file.syncCount.lastDuration, .milliseconds(10))
    let semaphore = state.withLock { state -> DispatchSemaphore? in
      let number = state.flushes.lazy.map(\.number).filter { $0 != .max }.max() ?? 0
      if state.hasEnded || number <= state.written { return nil }
      let semaphore = DispatchSemaphore(value: 0)
      state.gathering = (number, semaphore)
      return semaphore
    }
    guard let semaphore else { return }
    _ = semaphore.wait(timeout: .now() + limit / .seconds(1))
    state.withLock { $0.gathering = nil }
  }

  /// Returns the failure, and ends the recording with it.
  private func synchronize() -> JournalFailure? {
    do throws(JournalFailure) {
      try file.synchronize()
      report()
      return nil
    } catch {
      fail(with: error)
      return error
    }
  }
}
