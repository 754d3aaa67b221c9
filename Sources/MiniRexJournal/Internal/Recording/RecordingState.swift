internal import Dispatch
internal import MiniRex

/// The progress of a recording, and the flushes that wait for it.
///
/// Thread-safe. A flush is ready when its commit is written, or when the recording has ended. One job at a time
/// synchronizes the file for all flushes that are ready when it begins.
final class RecordingState: Sendable {
  private struct Flush: Sendable {
    let number: Int
    /// A Boolean value that indicates whether the commit must be written, even if the recording has ended.
    let isExact: Bool
    let continuation: CheckedContinuation<JournalFailure?, Never>
  }

  private struct CompactionRequest: Sendable {
    /// The number of the store's last commit at the request.
    let number: Int
    let done: @Sendable (CompactionResult) -> Void
  }

  private struct State: Sendable {
    /// The number of the last written commit, as the store counts.
    var written = -1
    /// The number of the last commit on the disk, as the store counts.
    var durable = -1
    /// The difference between the number of a line and the store's number, after the first line.
    var offset: Int?
    /// The requested compactions, which the recording begins when their commit is written.
    var compactions: [CompactionRequest] = []
    /// The recorded store.
    var store: ObjectIdentifier?
    var isStarting = true
    var isOver = false
    var failure: JournalFailure?
    var givesWay = false
    weak var subscription: Subscription?
    var flushes: [Flush] = []
    var isServing = false
    var hasTimer = false
    /// The number for which the job waits before it synchronizes.
    var gathering: (number: Int, semaphore: DispatchSemaphore)?

    var hasEnded: Bool { isOver || failure != nil }

    func isReady(_ flush: Flush) -> Bool { hasEnded || flush.number <= written }

    /// Returns `true` if the caller must start a job.
    mutating func serves() -> Bool {
      if isServing || flushes.isEmpty || !flushes.contains(where: isReady) { return false }
      isServing = true
      return true
    }
  }

  private let state: Lock<State>
  private let file: JournalFile
  private let failures: PublishedProperty<JournalFailure?>
  private let statuses: PublishedProperty<JournalStatus>
  /// Returns the number of the store's last commit, or `nil` if the store was deallocated.
  private let lastCommit: @Sendable () -> Int?

  init(
    of file: JournalFile, reportingTo failures: PublishedProperty<JournalFailure?>,
    _ statuses: PublishedProperty<JournalStatus>, lastCommit: @escaping @Sendable () -> Int?
  ) {
    state = Lock(State())
    self.file = file
    self.failures = failures
    self.statuses = statuses
    self.lastCommit = lastCommit
  }

  static func ended(
    of file: JournalFile, reportingTo failures: PublishedProperty<JournalFailure?>,
    _ statuses: PublishedProperty<JournalStatus>
  ) -> RecordingState {
    let recording = RecordingState(of: file, reportingTo: failures, statuses) { nil }
    recording.state.withLock { $0.isOver = true }
    return recording
  }

  func begin(of store: ObjectIdentifier) {
    state.withLock { $0.store = store }
  }

  var offset: Int? { state.withLock { $0.offset } }

  /// - Parameter number: The number of the last commit that the new file must begin with or after.
  /// - Returns: The reason why the recording can begin no compaction, or `nil`.
  func requestCompaction(
    after number: Int, _ done: @escaping @Sendable (CompactionResult) -> Void
  ) -> JournalFailure? {
    state.withLock { state in
      if state.hasEnded { return state.failure ?? .notRecording }
      state.compactions.append(CompactionRequest(number: number, done: done))
      return nil
    }
  }

  /// Takes the requests that a new file with this commit serves.
  func takeCompactions(with number: Int) -> [@Sendable (CompactionResult) -> Void] {
    state.withLock { state in
      let requests = state.compactions.filter { $0.number <= number }
      state.compactions.removeAll { $0.number <= number }
      return requests.map(\.done)
    }
  }

  /// Throws the failure that ended the recording, or `notRecording` unless it records the store.
  func require(_ store: ObjectIdentifier) throws(JournalFailure) {
    let failure = state.withLock { state -> JournalFailure? in
      state.failure ?? (state.isOver || state.store != store ? .notRecording : nil)
    }
    if let failure { throw failure }
  }

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
      return state.failure != nil
    }
    if hasFailed { subscription.invalidate() }
  }

  /// Ends the recording, unless it has already failed.
  ///
  /// A subscriber of the failure may begin another recording.
  func fail(with failure: JournalFailure) {
    let (isFirst, reports) = state.withLock { state in
      defer { state.givesWay = true }
      if state.failure != nil { return (false, false) }
      state.failure = failure
      return (true, !state.givesWay)
    }
    guard isFirst else { return }
    if reports { failures.value = failure }
    report()
    state.withLock { $0.subscription }?.invalidate()
    advance { _ in }
  }

  /// - Parameters:
  ///   - offset: The difference between the number of a line and the store's number.
  ///   - duration: The time until a synchronization, or `nil` for none.
  /// - Returns: `true` if a compaction with this commit is requested.
  func hasWritten(_ number: Int, at offset: Int, synchronizingAfter duration: Duration? = nil)
    -> Bool
  {
    var (needsTimer, isRequested) = (false, false)
    advance { state in
      state.written = number
      state.offset = offset
      isRequested = state.compactions.contains { $0.number <= number }
      needsTimer = duration != nil && !state.hasTimer
      if needsTimer { state.hasTimer = true }
    }
    if needsTimer, let duration { synchronize(after: duration) }
    return isRequested
  }

  /// Publishes the status of the file.
  ///
  /// It is computed with exclusive access to the property, so that the last value is the newest.
  func report() { statuses.modify { $0 = file.status } }

  func end() {
    advance { $0.isOver = true }
  }

  private func advance(_ change: (inout State) -> Void) {
    let (starts, refused, failure) = state.withLock { state in
      change(&state)
      var refused: [CompactionRequest] = []
      if state.hasEnded { swap(&refused, &state.compactions) }
      if let gathering = state.gathering, state.hasEnded || gathering.number <= state.written {
        gathering.semaphore.signal()
        state.gathering = nil
      }
      return (state.serves(), refused, state.failure)
    }
    if starts { startServing() }
    for request in refused { request.done(.failed(failure ?? .notRecording)) }
  }

  private func synchronize(after duration: Duration) {
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

  private func startServing() { DispatchQueue.global().async { [self] in serve() } }

  private func serve() {
    var goesOn = true
    while goesOn {
      gather()
      let (written, hasEnded, failure) = state.withLock { ($0.written, $0.hasEnded, $0.failure) }
      let ready: [Flush]
      let result = failure ?? synchronize()
      // No later line of the recording vouches for its lines.
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
