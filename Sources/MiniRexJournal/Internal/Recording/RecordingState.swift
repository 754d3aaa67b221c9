internal import Dispatch
internal import MiniRex

/// The progress of a recording, and the flushes that wait for it.
///
/// Thread-safe.
final class RecordingState: Sendable {
  let state: Lock<State>
  let file: JournalFile
  private let failures: PublishedProperty<JournalFailure?>
  private let statuses: PublishedProperty<JournalStatus>
  /// Returns the number of the store's last commit, or `nil` if the store was deallocated.
  let lastCommit: @Sendable () -> Int?

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

  /// Requests a compaction, which the recording begins.
  ///
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

  var isCompactionRequested: Bool { state.withLock { !$0.compactions.isEmpty } }

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

  /// Records that a commit was written, and sets the timer of a synchronization.
  ///
  /// The thread of `record` can record early commits after a delivering thread has recorded later commits.
  ///
  /// - Parameters:
  ///   - offset: The difference between the number of a line and the store's number.
  ///   - duration: The time until a synchronization, or `nil` for none.
  /// - Returns: `true` if a compaction with this commit is requested.
  func hasWritten(_ number: Int, at offset: Int, synchronizingAfter duration: Duration? = nil)
    -> Bool
  {
    var (needsTimer, isRequested) = (false, false)
    advance { state in
      state.written = max(state.written, number)
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
}
