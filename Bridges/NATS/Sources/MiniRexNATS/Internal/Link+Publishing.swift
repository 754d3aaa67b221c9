internal import CNATS
internal import MiniRex

extension Link {
  func publish(_ message: Outgoing, atOnce: Bool = false) throws(NATSError) {
    try Subject.checkToPublish(message.subject)
    if !message.headers.isEmpty { try message.headers.check() }
    if !atOnce, state.withLock({ $0.appends(message) }) { return }
    let open: Handle? = state.withLock { state in
      if case .open(let handle) = state.phase { handle } else { nil }
    }
    let handle = if let open, !open.wire.isLost { open } else { try keep(message) }
    try handle?.publish(message, sendLimit: options.sendLimit, atOnce: atOnce)
  }

  /// Keeps the message until there is a connection, unless there is one now.
  private func keep(_ message: Outgoing) throws(NATSError) -> Handle? {
    try state.withLock { state throws(NATSError) in
      if state.hasLost { state.phase = .waiting([], bytes: 0) }
      switch state.phase {
      case .open(let handle): return handle
      case .draining, .closed: throw .closed
      case .waiting(var operations, let bytes):
        if bytes + message.size > options.sendLimit { throw .sendLimitReached }
        // Without this there would be two references to the array, and it would be copied.
        state.phase = .draining
        operations.append(.publish(Kept(message)))
        state.phase = .waiting(operations, bytes: bytes + message.size)
        return nil
      }
    }
  }

  /// Subscribes, now or when there is a connection; `receive` is released when it is over.
  func subscribe(
    to subject: String, queue: String?, _ receive: @escaping @Sendable (RawMessage) -> Void
  ) -> Subscription {
    do throws(NATSError) {
      try Subject.checkToSubscribe(subject, queue: queue)
    } catch {
      tell(.notSubscribed(subject: subject, error))
      return .ended
    }
    let feed = Feed()
    subscribe(feed, Sink(subject, queue: queue, feed, over: self, receive))
    return Subscription { feed.end() }
  }

  /// - Parameter returns: If it was subscribed to before a connection was lost.
  func subscribe(_ feed: Feed, _ sink: Sink, returns: Bool = false) {
    let handle: Handle? = state.withLock { state in
      if state.hasLost { state.phase = .waiting([], bytes: 0) }
      switch state.phase {
      case .open(let handle): return handle
      case .draining, .closed: return nil
      case .waiting where returns:
        state.returning.append((feed, sink))
        return nil
      case .waiting(var operations, let bytes):
        state.phase = .draining
        operations.append(.subscribe(feed, sink))
        state.phase = .waiting(operations, bytes: bytes)
        return nil
      }
    }
    if let handle { start(feed, sink, over: handle) }
  }

  func start(_ feed: Feed, _ sink: Sink, over handle: Handle) {
    do throws(NATSError) {
      try feed.start(sink, over: handle, options)
    } catch {
      if error != .closed { tell(.notSubscribed(subject: sink.subject, error)) }
    }
  }

  func add(_ sink: Sink) {
    state.withLock { $0.sinks[sink.address] = sink }
  }

  func remove(_ sink: Sink) {
    // The caller still has it, so it is not released under the lock.
    state.withLock { state in
      // Another one may have got the same address by now.
      if state.sinks[sink.address] === sink { state.sinks[sink.address] = nil }
    }
  }
}
