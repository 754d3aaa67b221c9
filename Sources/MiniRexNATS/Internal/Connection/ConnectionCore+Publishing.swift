#if NATS
internal import CNATS
internal import MiniRex

extension ConnectionCore {
  func publish(_ message: OutgoingMessage, atOnce: Bool = false) throws(NATSError) {
    try ProtocolText.check(message, lineLimit: lineLimit)
    if !atOnce, state.withLock({ $0.appends(message) }) { return }
    let open: LibNATSConnection? = state.withLock { state in
      if case .open(let handle) = state.phase { handle } else { nil }
    }
    let handle = if let open, !open.wire.isLost { open } else { try keep(message) }
    guard let handle else { return }
    do throws(NATSError) {
      try handle.publish(message, sendLimit: options.sendLimit, atOnce: atOnce)
    } catch {
      if error != .closed || state.withLock({ $0.mustClose }) { throw error }
      // libnats has closed the connection, and reports that soon.
      handle.wire.lose()
      if try keep(message) != nil { throw .disconnected }
    }
  }

  /// Sends a text whose loss does not matter.
  func sendText(_ subject: String, _ text: String = "") {
    var text = text
    text.withUTF8 { bytes in
      try? publish(
        OutgoingMessage(subject: subject, headers: [:], bytes: UnsafeRawBufferPointer(bytes)))
    }
  }

  /// Queues the message until there is a connection, and returns the connection if there is one
  /// now.
  private func keep(_ message: OutgoingMessage) throws(NATSError) -> LibNATSConnection? {
    try state.withLock { state throws(NATSError) in
      if state.isLost { state.phase = .waiting([], bytes: 0) }
      switch state.phase {
      case .open(let handle): return handle
      case .draining, .closed: throw .closed
      case .waiting(var operations, let bytes):
        if bytes + message.size > options.sendLimit { throw .sendLimitReached }
        // A second reference to the array would force a copy of it.
        state.phase = .draining
        operations.append(.publish(QueuedMessage(message)))
        state.phase = .waiting(operations, bytes: bytes + message.size)
        return nil
      }
    }
  }

  /// Subscribes, now or after connecting.
  ///
  /// `receive` is released after its last call.
  func subscribe(
    to subject: String, queue: String?, _ receive: @escaping @Sendable (RawMessage) -> Void
  ) -> Subscription {
    do throws(NATSError) {
      try ProtocolText.checkSubscription(to: subject, queue: queue, lineLimit: lineLimit)
    } catch {
      report(.notSubscribed(subject: subject, error))
      return .ended
    }
    let feed = ServerSubscription(isEssential: subject.hasPrefix(inbox.prefix))
    subscribe(feed, MessageHandler(subject, queue: queue, feed, over: self, receive))
    return Subscription { feed.end() }
  }

  /// - Parameter returns: A Boolean value that indicates whether the subscription existed on a lost
  ///   connection.
  func subscribe(_ feed: ServerSubscription, _ sink: MessageHandler, returns: Bool = false) {
    let handle: LibNATSConnection? = state.withLock { state in
      if state.isLost { state.phase = .waiting([], bytes: 0) }
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

  func start(_ feed: ServerSubscription, _ sink: MessageHandler, over handle: LibNATSConnection) {
    do throws(NATSError) {
      // A server may close the connection after a line that was accepted here earlier.
      try ProtocolText.checkSubscription(
        to: sink.subject, queue: sink.queue, lineLimit: lineLimit)
      let limit = state.withLock { $0.subscriptionLimit }
      // One subscription is reserved for the replies to requests.
      if !feed.isEssential, handle.subscriptions >= limit - 1 {
        throw .tooManySubscriptions(limit - 1)
      }
      try feed.start(sink, over: handle, options)
    } catch {
      if error != .closed { return report(.notSubscribed(subject: sink.subject, error)) }
      if state.withLock({ $0.mustClose }) { return }
      // libnats has closed the connection, and reports that soon.
      handle.wire.lose()
      subscribe(feed, sink, returns: true)
    }
  }

  func add(_ sink: MessageHandler) {
    state.withLock { $0.sinks[sink.address] = sink }
  }

  func remove(_ sink: MessageHandler) {
    // The caller retains it, so it is not released under the lock.
    state.withLock { state in
      // Another subscription may have the same address by now.
      if state.sinks[sink.address] === sink { state.sinks[sink.address] = nil }
    }
  }
}
#endif
