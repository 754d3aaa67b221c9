internal import Dispatch
internal import MiniRex

extension RecordingState {
  struct Flush: Sendable {
    let number: Int
    /// A Boolean value that indicates whether the commit must be written, even if the recording has ended.
    let isExact: Bool
    let continuation: CheckedContinuation<JournalFailure?, Never>
  }

  struct CompactionRequest: Sendable {
    /// The number of the store's last commit at the request.
    let number: Int
    let done: @Sendable (CompactionResult) -> Void
  }

  struct State: Sendable {
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
    /// The number of the commit for which the job waits before it synchronizes.
    var gathering: (number: Int, semaphore: DispatchSemaphore)?

    var hasEnded: Bool { isOver || failure != nil }

    func isReady(_ flush: Flush) -> Bool { hasEnded || flush.number <= written }

    /// Marks the job as started, if a flush is ready and no job runs.
    ///
    /// - Returns: `true` if the caller must start the job.
    mutating func serves() -> Bool {
      if isServing || flushes.isEmpty || !flushes.contains(where: isReady) { return false }
      isServing = true
      return true
    }
  }
}
