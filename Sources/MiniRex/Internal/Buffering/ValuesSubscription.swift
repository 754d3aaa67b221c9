/// The state that a sequence and its iterators share.
///
/// Releasing the last of them cancels the subscription.
@usableFromInline
final class ValuesSubscription<Update: Sendable>: Sendable {
  @usableFromInline let buffer: ValuesBuffer<Update>
  @usableFromInline let token: Subscription

  @inlinable
  init<Kind>(
    to publisher: Publisher<Update, Kind>, limit: BufferLimit, _ fileID: String, _ line: Int
  ) {
    let counter = InFlightCounter(limit, fileID, line)
    let buffer = ValuesBuffer<Update>(limit: limit, counter: counter)
    let sentinel = Sentinel { buffer.end() }
    self.buffer = buffer
    if publisher.lineage != nil || counter != nil {
      token = connect(counter) { publisher.fill(buffer, keeping: sentinel, fileID, line) }
    } else {
      token = publisher.connect { update in
        withExtendedLifetime(sentinel) { buffer.receive(update) }
      }
    }
    if counter != nil { limitStalls() }
  }

  /// Ends the loop after its buffer, if it stalls its senders for too long.
  @usableFromInline
  func limitStalls() {
    buffer.counter?.onTimeout { [weak self] in
      self?.token.invalidate()
      self?.buffer.end()
    }
  }

  /// Cancels the subscription from outside, even if no loop returns to discard its batch.
  func invalidate() {
    close()
    buffer.invalidate()
  }

  /// Cancels, and ends a wait that is in progress or about to start.
  @usableFromInline
  func close() {
    token.invalidate()
    buffer.close()
  }

  /// The synchronous part of `next`, inlined into the loop.
  ///
  /// After `notYet`, the caller continues with `waitForNext`.
  @inlinable @inline(__always)
  func takeNext() -> NextUpdate<Update> {
    guard buffer.beginTaking() else { return .end }
    if Task.isCancelled || buffer.isOver {
      close()
      buffer.discardBatch()
    }
    let next = buffer.take()
    if case .notYet = next { return next }
    buffer.endTaking()
    return next
  }

  @inlinable
  func waitForNext(isolation actor: isolated (any Actor)?) async -> Update? {
    defer { buffer.endTaking() }
    while true {
      await wait(isolation: actor)
      switch buffer.take() {
      case .update(let update): return update
      case .end: return nil
      case .notYet: continue
      }
    }
  }

  @usableFromInline
  func wait(isolation actor: isolated (any Actor)?) async {
    await withTaskCancellationHandler {
      unsafe await withUnsafeContinuation { unsafe buffer.wait(for: Waiter($0)) }
    } onCancel: {
      close()
    }
  }
}

extension Publisher {
  /// Subscribes for a buffer, and reports its length and its drops to the instrument.
  @usableFromInline
  func fill(
    _ buffer: ValuesBuffer<Update>, keeping sentinel: Sentinel, _ fileID: String, _ line: Int
  ) -> Subscription {
    subscribe(as: "values", fileID, line) {
      let watch = BufferWatch(lineage, of: "values")?.measuring(buffer.counter) { [weak buffer] in
        buffer?.counts
      }
      return follow { update in
        withExtendedLifetime(sentinel) { buffer.receive(update) }
        watch?.look(buffer.counts)
      }
    }
  }
}
