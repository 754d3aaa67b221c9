public import Synchronization

/// The state between a callback and the loop that takes its updates.
///
/// It decides under the lock.
@usableFromInline
struct ValuesState<Update: Sendable>: Sendable {
  /// - open: updates arrive. → ended (by the source), closed (by the loop)
  /// - ended: no further updates. The loop can take the queued ones. → closed
  /// - closed: no updates.
  @usableFromInline
  enum Phase: Sendable {
    case open
    case ended
    case closed
  }

  @usableFromInline var phase = Phase.open
  @usableFromInline var buffer: Buffer<Update>
  /// The update handed to the waiting loop.
  ///
  /// It does not count as buffered.
  @usableFromInline var handed: Update?
  @usableFromInline var waiter: Waiter?

  @inlinable
  init(limit: BufferLimit) {
    buffer = Buffer(limit: limit)
  }

  /// The caller resumes the waiter and releases the dropped update after the lock.
  @inlinable
  mutating func receive(_ update: Update) -> (Waiter?, dropped: Update?) {
    guard phase == .open else { return (nil, nil) }
    if let waiter = waiter.take() {
      handed = update
      return (waiter, nil)
    }
    return (nil, buffer.append(update))
  }

  /// Takes the next update, first from the batch that the loop already has.
  ///
  /// - Parameter batch: Receives the entire queue if it is unbounded.
  @inlinable
  mutating func take(into batch: inout Queue<Update>) -> NextUpdate<Update> {
    if let update = handed.take() { return .update(update) }
    if case .none = buffer.limit { swap(&batch, &buffer.queue) }
    if let update = batch.popFirst() ?? buffer.queue.popFirst() { return .update(update) }
    return phase == .open ? .notYet : .end
  }

  /// Returns `false` if the loop need not wait.
  mutating func wait(for waiter: Waiter) -> Bool {
    guard phase == .open, buffer.queue.count == 0 else { return false }
    self.waiter = waiter
    return true
  }
}

/// The result of a request for the next update.
@usableFromInline
enum NextUpdate<Update: Sendable>: Sendable {
  case update(Update)
  case notYet
  case end
}

/// The buffer of one `values(…)`, filled by a callback and emptied by one loop at a time.
///
/// The sender decides whether an update goes to the loop, into the buffer, or is dropped. The
/// counts therefore do not depend on the speed of the loop.
///
/// Unchecked: `batch` belongs to the thread that has set `isTaking`: the loop, or finally
/// `invalidate`.
@usableFromInline
final class ValuesBuffer<Update: Sendable>: @unchecked Sendable {
  @usableFromInline let state: Lock<ValuesState<Update>>

  @usableFromInline let isTaking = Atomic(false)
  @usableFromInline let isInvalidated = Atomic(false)
  /// The updates that the loop has taken from an unbounded buffer in one step, which saves locking.
  ///
  /// A bounded buffer keeps its updates, because each send must know whether it is full.
  @usableFromInline @exclusivity(unchecked) var batch = Queue<Update>()
  @usableFromInline let batchCount = Atomic(0)

  /// The counter of a suspending buffer.
  @usableFromInline let counter: InFlightCounter?

  @inlinable
  init(limit: BufferLimit, counter: InFlightCounter?) {
    self.counter = counter
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
    if let counter { return receive(update, counting: counter) }
    let (waiter, _) = state.withLock { $0.receive(update) }
    waiter?.resume()
  }

  @inlinable
  func receive(_ update: Update, counting counter: InFlightCounter) {
    let (waiter, isBuffered) = state.withLock { state in
      let (waiter, _) = state.receive(update)
      return (waiter, waiter == nil && state.phase == .open)
    }
    waiter?.resume()
    if isBuffered { counter.add() }
  }

  /// Marks the source as finished.
  @usableFromInline
  func end() {
    let waiter = state.withLock { state in
      if state.phase == .open { state.phase = .ended }
      return state.waiter.take()
    }
    counter?.endTimeout()
    waiter?.resume()
  }

  /// Ends the loop, except for the update that was already handed to it.
  @usableFromInline
  func close() {
    var (discarded, waiter) = state.withLock { state in
      state.phase = .closed
      return (state.buffer.takeAll(), state.waiter.take())
    }
    counter?.endTimeout()
    waiter?.resume()
    ReleaseChain.release(&discarded)
  }

  /// Closes the buffer.
  ///
  /// No thread takes updates afterward.
  ///
  /// A loop that is taking discards its batch.
  func invalidate() {
    isInvalidated.store(true, ordering: .releasing)
    if !isTaking.exchange(true, ordering: .acquiringAndReleasing) { discardBatch() }
  }

  @usableFromInline
  func wait(for waiter: Waiter) {
    if !state.withLock({ $0.wait(for: waiter) }) { waiter.resume() }
  }

  /// Returns `false` after `invalidate`: no update will follow.
  @inlinable @inline(__always)
  func beginTaking() -> Bool {
    if !isTaking.exchange(true, ordering: .acquiring) { return true }
    if !isInvalidated.load(ordering: .acquiring) { takenTwice() }
    return false
  }

  /// `true` after `invalidate`.
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
    if let counter { return takeCounted(by: counter) }
    return state.withLock { state in
      let next = unsafe state.take(into: &batch)
      unsafe batchCount.store(batch.count, ordering: .relaxed)
      return next
    }
  }

  @inlinable
  func takeCounted(by counter: InFlightCounter) -> NextUpdate<Update> {
    counter.isTaken(by: SuspendedTasks.current)
    let (next, isCounted) = state.withLock { state in
      let count = state.buffer.queue.count
      let next = unsafe state.take(into: &batch)
      return (next, state.buffer.queue.count < count)
    }
    if isCounted { counter.subtractTaken() }
    return next
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
    "Two tasks iterate over the same 'values(…)' concurrently. "
      + "Call 'values(…)' once per task.")
}
