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
    if publisher.lineage != nil {
      token = publisher.fill(buffer, keeping: sentinel, fileID, line)
    } else {
      token = publisher.connect { update in
        withExtendedLifetime(sentinel) { buffer.receive(update) }
      }
    }
  }

  /// Ends it from outside: also where no loop comes again that would discard what it has taken.
  func invalidate() {
    close()
    buffer.invalidate()
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
  /// Subscribes for a buffer, and tells the instrument what waits there, and what it drops.
  @usableFromInline
  func fill(
    _ buffer: ValuesBuffer<Update>, keeping sentinel: Sentinel, _ fileID: String, _ line: Int
  ) -> Subscription {
    subscribe(as: "values", fileID, line) {
      let watch = BufferWatch(lineage)?.measuring { [weak buffer] in buffer?.counts }
      return follow { update in
        withExtendedLifetime(sentinel) { buffer.receive(update) }
        watch?.look(buffer.counts)
      }
    }
  }
}
