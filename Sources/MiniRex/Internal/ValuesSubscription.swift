/// What a sequence and its iterators share: its token ends the subscription when the last of them
/// goes.
@usableFromInline
final class ValuesSubscription<Update: Sendable>: Sendable {
  @usableFromInline let buffer: ValuesBuffer<Update>
  @usableFromInline let token: Subscription

  @inlinable
  init<Kind>(
    to publisher: Publisher<Update, Kind>, limit: BufferLimit, _ fileID: String, _ line: Int
  ) {
    let buffer = ValuesBuffer<Update>(limit: limit)
    let sentinel = Sentinel { buffer.end() }
    self.buffer = buffer
    if let lineage = publisher.lineage {
      token = publisher.fill(buffer, keeping: sentinel, watchedBy: lineage, fileID, line)
    } else {
      token = publisher.connect { update in
        withExtendedLifetime(sentinel) { buffer.receive(update) }
      }
    }
  }

  /// Also ends a wait that is in progress, or that is about to begin.
  @usableFromInline
  func close() {
    token.invalidate()
    buffer.close()
  }

  /// The part of `next` that does not suspend, so that it costs a loop no call.
  ///
  /// After `notYet` the caller goes on with `waitForNext`.
  @inlinable @inline(__always)
  func takeNext() -> NextUpdate<Update> {
    buffer.beginTaking()
    if Task.isCancelled {
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
  /// Subscribes for a buffer, and tells the instrument what the buffer drops.
  @usableFromInline
  func fill(
    _ buffer: ValuesBuffer<Update>, keeping sentinel: Sentinel, watchedBy lineage: Lineage,
    _ fileID: String, _ line: Int
  ) -> Subscription {
    subscribe(as: "values", fileID, line) {
      let context = WatchContext.current
      let toldCount = SerialState(0)
      return follow { update in
        withExtendedLifetime(sentinel) { buffer.receive(update) }
        let droppedCount = buffer.droppedCount
        let news = unsafe droppedCount - toldCount.value
        unsafe toldCount.value = droppedCount
        if news > 0 { lineage.origin.record(.dropped(news), by: context) }
      }
    }
  }
}
