public import Synchronization

/// What waits between a callback and the loop that takes it: decides, under the lock.
@usableFromInline
struct ValuesState<Update: Sendable>: Sendable {
  /// - open: updates come. Next: ended, by the source, or closed, by the loop.
  /// - ended: nothing comes any more, what waits can be taken. Next: closed.
  /// - closed: nothing comes and nothing waits.
  @usableFromInline
  enum Phase: Sendable {
    case open
    case ended
    case closed
  }

  @usableFromInline var phase = Phase.open
  @usableFromInline var buffer: Buffer<Update>
  /// What the loop that waited has been given; it does not count as buffered.
  @usableFromInline var handed: Update?
  @usableFromInline var waiter: Waiter?

  @inlinable
  init(limit: BufferLimit) {
    buffer = Buffer(limit: limit)
  }

  /// The waiter is to be resumed, and what was dropped to be released, after the lock.
  @inlinable
  mutating func receive(_ update: Update) -> (Waiter?, dropped: Update?) {
    guard phase == .open else { return (nil, nil) }
    if let waiter = waiter.take() {
      handed = update
      return (waiter, nil)
    }
    return (nil, buffer.append(update))
  }

  /// - Parameter batch: Gets the whole queue, if that has no limit.
  @inlinable
  mutating func take(into batch: inout Queue<Update>) -> NextUpdate<Update> {
    if let update = handed.take() { return .update(update) }
    if case .none = buffer.limit { swap(&batch, &buffer.queue) }
    if let update = batch.popFirst() ?? buffer.queue.popFirst() { return .update(update) }
    return phase == .open ? .notYet : .end
  }

  /// False if there is nothing to wait for.
  mutating func wait(for waiter: Waiter) -> Bool {
    guard phase == .open, buffer.queue.count == 0 else { return false }
    self.waiter = waiter
    return true
  }
}

/// What a loop finds when it looks for the next update.
@usableFromInline
enum NextUpdate<Update: Sendable>: Sendable {
  case update(Update)
  case notYet
  case end
}

/// A loop that waits.
///
/// Whoever takes it out of the state, under the lock, resumes it after the lock: so it is resumed
/// once.
@usableFromInline @safe
package struct Waiter: Sendable {
  private let continuation: UnsafeContinuation<Void, Never>

  package init(_ continuation: UnsafeContinuation<Void, Never>) {
    unsafe self.continuation = continuation
  }

  @usableFromInline
  package func resume() {
    unsafe continuation.resume()
  }
}

/// The buffer of one `values(…)`: filled by a callback, emptied by one loop at a time.
///
/// Whether an update goes to the loop, into the buffer or nowhere is decided when it is sent, not
/// when the loop wakes up: so that counts do not depend on how fast it does.
///
/// Unchecked: `batch` belongs to whoever has set `isTaking`, the loop or, for good, `invalidate`.
@usableFromInline
final class ValuesBuffer<Update: Sendable>: @unchecked Sendable {
  @usableFromInline let state: Lock<ValuesState<Update>>

  @usableFromInline let isTaking = Atomic(false)
  @usableFromInline let isInvalidated = Atomic(false)
  /// What the loop has taken from a buffer without a limit, all at once, to spare it the lock.
  ///
  /// A buffer with a limit keeps what it has, to know at each update if it is full.
  @usableFromInline @exclusivity(unchecked) var batch = Queue<Update>()
  @usableFromInline let batchCount = Atomic(0)

  @inlinable
  init(limit: BufferLimit) {
    state = Lock(ValuesState(limit: limit))
  }

  var counts: BufferCounts {
    state.withLock { state in
      var counts = state.buffer.counts
      counts.pending += batchCount.load(ordering: .relaxed)
      return counts
    }
  }

  @inlinable
  func receive(_ update: Update) {
    let (waiter, _) = state.withLock { $0.receive(update) }
    waiter?.resume()
  }

  /// The source has ended.
  @usableFromInline
  func end() {
    let waiter = state.withLock { state in
      if state.phase == .open { state.phase = .ended }
      return state.waiter.take()
    }
    waiter?.resume()
  }

  /// The loop has ended, but for what it has been given already.
  @usableFromInline
  func close() {
    var (discarded, waiter) = state.withLock { state in
      state.phase = .closed
      return (state.buffer.takeAll(), state.waiter.take())
    }
    waiter?.resume()
    ReleaseChain.release(&discarded)
  }

  /// Nobody takes any more, once it is closed.
  ///
  /// What a loop has taken all at once it discards itself, if it is taking now.
  func invalidate() {
    isInvalidated.store(true, ordering: .releasing)
    if !isTaking.exchange(true, ordering: .acquiringAndReleasing) { discardBatch() }
  }

  @usableFromInline
  func wait(for waiter: Waiter) {
    if !state.withLock({ $0.wait(for: waiter) }) { waiter.resume() }
  }

  /// False if there is nothing to take for ever, because it is invalidated.
  @inlinable @inline(__always)
  func beginTaking() -> Bool {
    if !isTaking.exchange(true, ordering: .acquiring) { return true }
    if !isInvalidated.load(ordering: .acquiring) { takenTwice() }
    return false
  }

  /// Whoever takes finds nothing more, and discards what it has.
  @inlinable @inline(__always)
  var isOver: Bool { isInvalidated.load(ordering: .relaxed) }

  @inlinable @inline(__always)
  func endTaking() {
    isTaking.store(false, ordering: .releasing)
  }

  @inlinable @inline(__always)
  func take() -> NextUpdate<Update> {
    guard let update = unsafe batch.popFirst() else { return takeUnderLock() }
    unsafe batchCount.store(batch.count, ordering: .relaxed)
    return .update(update)
  }

  @inlinable
  func takeUnderLock() -> NextUpdate<Update> {
    state.withLock { state in
      let next = unsafe state.take(into: &batch)
      unsafe batchCount.store(batch.count, ordering: .relaxed)
      return next
    }
  }

  @usableFromInline
  func discardBatch() {
    var discarded: Queue? = unsafe batch
    unsafe batch = Queue()
    batchCount.store(0, ordering: .relaxed)
    ReleaseChain.release(&discarded)
  }
}

@usableFromInline
func takenTwice() -> Never {
  misuse(
    "Two tasks iterate over the same 'values(…)' at the same time. "
      + "Call 'values(…)' once for each of them: every call is a subscription of its own.")
}
