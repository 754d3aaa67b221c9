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

  @usableFromInline let limit: BufferLimit
  @usableFromInline var phase = Phase.open
  @usableFromInline var queue = Queue<Update>()
  /// What the loop that waited has been given; it does not count as buffered.
  @usableFromInline var handed: Update?
  @usableFromInline var waiter: Waiter?
  @usableFromInline var droppedCount = 0

  @inlinable
  init(limit: BufferLimit) {
    self.limit = limit
  }

  /// The waiter is to be resumed, and what was dropped to be released, after the lock.
  @inlinable
  mutating func receive(_ update: Update) -> (Waiter?, dropped: Update?) {
    guard phase == .open else { return (nil, nil) }
    if let waiter = waiter.take() {
      handed = update
      return (waiter, nil)
    }
    switch limit {
    case .newest(queue.count):
      droppedCount += 1
      let dropped = queue.popFirst()
      queue.append(update)
      return (nil, dropped)
    case .oldest(queue.count):
      droppedCount += 1
    case .newest, .oldest, .none:
      queue.append(update)
    }
    return (nil, nil)
  }

  /// - Parameter batch: Gets the whole queue, if that has no limit.
  @inlinable
  mutating func take(into batch: inout Queue<Update>) -> NextUpdate<Update> {
    if let update = handed.take() { return .update(update) }
    if case .none = limit { swap(&batch, &queue) }
    if let update = batch.popFirst() ?? queue.popFirst() { return .update(update) }
    return phase == .open ? .notYet : .end
  }

  /// False if there is nothing to wait for.
  mutating func wait(for waiter: Waiter) -> Bool {
    guard phase == .open, queue.count == 0 else { return false }
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
struct Waiter: Sendable {
  private let continuation: UnsafeContinuation<Void, Never>

  init(_ continuation: UnsafeContinuation<Void, Never>) {
    unsafe self.continuation = continuation
  }

  @usableFromInline
  func resume() {
    unsafe continuation.resume()
  }
}

/// The buffer of one `values(…)`: filled by a callback, emptied by one loop at a time.
///
/// Whether an update goes to the loop, into the buffer or nowhere is decided when it is sent, not
/// when the loop wakes up: so that counts do not depend on how fast it does.
///
/// Unchecked: `batch` belongs to the loop that has set `isTaking`.
@usableFromInline
final class ValuesBuffer<Update: Sendable>: @unchecked Sendable {
  @usableFromInline let state: Lock<ValuesState<Update>>

  @usableFromInline let isTaking = Atomic(false)
  /// What the loop has taken from a buffer without a limit, all at once, to spare it the lock.
  ///
  /// A buffer with a limit keeps what it has, to know at each update if it is full.
  @usableFromInline @exclusivity(unchecked) var batch = Queue<Update>()
  @usableFromInline let batchCount = Atomic(0)

  @inlinable
  init(limit: BufferLimit) {
    state = Lock(ValuesState(limit: limit))
  }

  var bufferedCount: Int {
    state.withLock { $0.queue.count + batchCount.load(ordering: .relaxed) }
  }

  var droppedCount: Int {
    state.withLock { $0.droppedCount }
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
    var discarded = Queue<Update>()
    let waiter = state.withLock { state in
      state.phase = .closed
      swap(&state.queue, &discarded)
      return state.waiter.take()
    }
    waiter?.resume()
  }

  @usableFromInline
  func wait(for waiter: Waiter) {
    if !state.withLock({ $0.wait(for: waiter) }) { waiter.resume() }
  }

  @inlinable @inline(__always)
  func beginTaking() {
    if isTaking.exchange(true, ordering: .acquiring) { takenTwice() }
  }

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
    unsafe batch = Queue()
    batchCount.store(0, ordering: .relaxed)
  }
}

@usableFromInline
func takenTwice() -> Never {
  misuse(
    "Two tasks iterate over the same 'values(…)' at the same time. "
      + "Call 'values(…)' once for each of them: every call is a subscription of its own.")
}
