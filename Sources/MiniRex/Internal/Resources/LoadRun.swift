/// One load of a resource: its attempts, one after the other.
///
/// A `Lock` guards the attempt in progress. The delays belong to the attempts, which never overlap.
final class LoadRun: Sendable {
  private struct State {
    var hasEnded = false
    var workHandle: WorkHandle?
    /// `nil` while no attempt runs, and while an attempt delivers its result, which must not inherit
    /// a cancellation.
    var task: Task<Void, Never>?
  }

  let number: Int
  /// The carried values of the reader that started the load, for attempts that the clock starts.
  let carried: CarriedValues?
  /// The work that waits for the load since its start, if there is any.
  let waiter: WorkHandle?
  private let state = Lock(State())
  private let delays = SerialState<RetryDelay.Delays?>(nil)

  init(_ number: Int, _ carried: CarriedValues?, waiter: WorkHandle?) {
    self.number = number
    self.carried = carried
    self.waiter = waiter
  }

  /// Returns the delay before the next attempt.
  func nextDelay(of policy: RetryDelay) -> Duration {
    let known = unsafe delays.value ?? policy.begin()
    unsafe delays.value = known
    return known.next()
  }

  /// Runs an attempt in a Swift task, unless the load is canceled.
  ///
  /// - Parameter isDetached: `true` if no caller requested the attempt, so that its task inherits
  ///   nothing.
  func attempt<Result: Sendable>(
    by workHandle: WorkHandle, isDetached: Bool, _ work: @escaping @Sendable () async -> Result,
    finish: @escaping @Sendable (Result) -> Void
  ) {
    let hasEnded = state.withLock { state in
      if !state.hasEnded { state.workHandle = workHandle }
      return state.hasEnded
    }
    if hasEnded { return workHandle.finish() }
    let run: @Sendable () async -> Void = {
      let result = await WorkHandle.$current.withValue(workHandle, operation: work)
      self.hasReturned()
      finish(result)
      workHandle.finish()
    }
    let task = isDetached ? Task.detached { await run() } : Task { await run() }
    // An attempt that has returned delivers its result, which may already have ended the load.
    let isCanceled = state.withLock { state in
      guard state.workHandle === workHandle else { return false }
      if !state.hasEnded { state.task = task }
      return state.hasEnded
    }
    if isCanceled { task.cancel() }
  }

  /// Marks the attempt as returned, so that a later cancellation does not reach its task.
  ///
  /// Called by the task before it delivers.
  private func hasReturned() {
    let (workHandle, task) = state.withLock { state in
      (state.workHandle.take(), state.task.take())
    }
    withExtendedLifetime((workHandle, task)) {}
  }

  /// Cancels the attempt in progress.
  ///
  /// A current wait group waits until its work has returned.
  func cancel() {
    let (workHandle, task) = state.withLock { state in
      state.hasEnded = true
      return (state.workHandle, state.task.take())
    }
    if let group = WaitGroup.current { workHandle?.isAwaited(by: group) }
    task?.cancel()
  }

  /// Returns `true` if the current Swift task is part of the attempt in progress, which would
  /// never return if it awaited this load.
  var isCaller: Bool {
    guard let caller = WorkHandle.current, let workHandle = state.withLock({ $0.workHandle }) else {
      return false
    }
    return caller.isPart(of: workHandle)
  }
}
