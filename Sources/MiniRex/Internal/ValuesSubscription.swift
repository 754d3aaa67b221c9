/// What a sequence and its iterators share: it ends the subscription when the last of them goes.
@usableFromInline
final class ValuesSubscription<Update: Sendable>: Sendable {
  @usableFromInline let buffer: ValuesBuffer<Update>
  @usableFromInline let token: Subscription

  @inlinable
  init<Kind>(to publisher: Publisher<Update, Kind>, limit: BufferLimit) {
    let buffer = ValuesBuffer<Update>(limit: limit)
    let sentinel = Sentinel { buffer.end() }
    self.buffer = buffer
    token = publisher.subscribe { update in
      withExtendedLifetime(sentinel) { buffer.receive(update) }
    }
  }

  deinit {
    close()
  }

  /// Also ends a wait that is in progress, or that is about to begin.
  @usableFromInline
  func close() {
    token.invalidate()
    buffer.close()
  }

  @inlinable
  func next(isolation actor: isolated (any Actor)?) async -> Update? {
    buffer.beginTaking()
    defer { buffer.endTaking() }
    if Task.isCancelled {
      close()
      buffer.discardBatch()
      return nil
    }
    if let update = buffer.takeFromBatch() { return update }
    while true {
      switch buffer.take() {
      case .update(let update): return update
      case .end: return nil
      case .notYet: await wait(isolation: actor)
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
