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
  private var waiters: [(remaining: Int, call: WaitingCall)] = []

  @usableFromInline
  init() {}

  /// Returns `false` if nothing is queued or running.
  mutating func wait(for queued: Int, _ call: WaitingCall) -> Bool {
    let remaining = queued + (isCalling ? 1 : 0)
    if remaining > 0 { waiters.append((remaining, call)) }
    return remaining > 0
  }

  /// Counts the return of the callback.
  @inlinable
  mutating func endCall() -> [WaitingCall] {
    if !isCalling { return [] }
    isCalling = false
    return finishOne()
  }

  /// Counts an update that has run or was dropped.
  @usableFromInline
  mutating func finishOne() -> [WaitingCall] {
    if waiters.isEmpty { return [] }
    for index in waiters.indices { waiters[index].remaining -= 1 }
    let done = waiters.prefix { $0.remaining <= 0 }
    waiters.removeFirst(done.count)
    return done.map(\.call)
  }

  mutating func finishAll() -> [WaitingCall] {
    defer { waiters = [] }
    return waiters.map(\.call)
  }
}
