/// The calls of `drained()` that wait for one queue.
///
/// The lock of the queue guards it. Each method returns the calls that are done, for a resumption
/// outside the lock.
@usableFromInline
struct DrainWaiters: Sendable {
  /// `true` while the callback runs with an update that has left the queue.
  @usableFromInline var isCalling = false
  /// Each call, with the updates before it that have not run yet.
  ///
  /// Oldest first, so the counts rise.
  private var waiters: [(remaining: Int, call: DrainCall)] = []

  @usableFromInline
  init() {}

  /// Returns `false` if nothing is queued or running.
  mutating func wait(for queued: Int, _ call: DrainCall) -> Bool {
    let remaining = queued + (isCalling ? 1 : 0)
    if remaining > 0 { waiters.append((remaining, call)) }
    return remaining > 0
  }

  /// Counts the return of the callback.
  @inlinable
  mutating func endCall() -> [DrainCall] {
    if !isCalling { return [] }
    isCalling = false
    return finishOne()
  }

  /// Counts an update that has run or was dropped.
  @usableFromInline
  mutating func finishOne() -> [DrainCall] {
    if waiters.isEmpty { return [] }
    for index in waiters.indices { waiters[index].remaining -= 1 }
    let done = waiters.prefix { $0.remaining <= 0 }
    waiters.removeFirst(done.count)
    return done.map(\.call)
  }

  mutating func finishAll() -> [DrainCall] {
    defer { waiters = [] }
    return waiters.map(\.call)
  }
}

/// One call of `drained()`, which its queue or the cancellation of its task resumes once.
@usableFromInline
final class DrainCall: Sendable {
  private let state = Lock<(isDone: Bool, waiter: Waiter?)>((false, nil))

  @usableFromInline
  func resume() {
    let waiter = state.withLock { state in
      state.isDone = true
      return state.waiter.take()
    }
    waiter?.resume()
  }

  func wait() async {
    await withTaskCancellationHandler {
      unsafe await withUnsafeContinuation { continuation in
        let waiter = unsafe Waiter(continuation)
        let isDone = state.withLock { state in
          if !state.isDone { state.waiter = waiter }
          return state.isDone
        }
        if isDone { waiter.resume() }
      }
    } onCancel: {
      resume()
    }
  }
}
