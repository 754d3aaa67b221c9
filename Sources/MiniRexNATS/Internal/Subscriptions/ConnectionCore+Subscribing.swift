#if NATS
internal import MiniRex

extension ConnectionCore {
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
    let subscription = ServerSubscription(isEssential: subject.hasPrefix(inbox.prefix))
    subscribe(
      subscription, MessageHandler(subject, queue: queue, subscription, over: self, receive))
    return Subscription { subscription.end() }
  }

  /// - Parameter returns: A Boolean value that indicates whether the subscription existed on a lost
  ///   connection.
  func subscribe(
    _ subscription: ServerSubscription, _ handler: MessageHandler, returns: Bool = false
  ) {
    let handle: LibNATSConnection? = state.withLock { state in
      if state.isLost { state.phase = .waiting([], bytes: 0) }
      switch state.phase {
      case .open(let handle): return handle
      case .draining, .closed: return nil
      case .waiting where returns:
        state.returning.append((subscription, handler))
        return nil
      case .waiting(var operations, let bytes):
        state.phase = .draining
        operations.append(.subscribe(subscription, handler))
        state.phase = .waiting(operations, bytes: bytes)
        return nil
      }
    }
    if let handle { start(subscription, handler, over: handle) }
  }

  /// Subscribes over `handle`, or again over the next connection if libnats has closed this one.
  func start(
    _ subscription: ServerSubscription, _ handler: MessageHandler, over handle: LibNATSConnection
  ) {
    // A canceled subscription must not take a place.
    if subscription.isOver { return }
    let next: MessageHandler
    do throws(NATSError) {
      // A server may close the connection after a line that was accepted here earlier.
      try ProtocolText.checkSubscription(
        to: handler.subject, queue: handler.queue, lineLimit: lineLimit)
      try takePlace(subscription, over: handle)
      guard let another = try subscription.start(handler, over: handle, options) else { return }
      next = another
    } catch {
      if error != .closed { return report(.notSubscribed(subject: handler.subject, error)) }
      next = handler
    }
    if state.withLock({ $0.mustClose }) { return }
    // libnats has closed the connection, and reports that soon.
    handle.wire.lose()
    subscribe(subscription, next, returns: true)
  }

  /// Counts a subscription, and cancels a newer subscription if the server has no place for both.
  ///
  /// A subscription returns after its last callback over the lost connection. Newer subscriptions may have returned
  /// earlier.
  private func takePlace(
    _ subscription: ServerSubscription, over handle: LibNATSConnection
  ) throws(NATSError) {
    let count = handle.countSubscription(1)
    // One place is reserved for the replies to requests.
    let limit = state.withLock { $0.subscriptionLimit } - 1
    if subscription.isEssential || count <= limit { return }
    let newer = state.withLock { state in
      state.handlers.values.filter { $0.isNewer(than: subscription) }
    }.sorted { $0.isNewer(than: $1.subscription) }
    if let newest = newer.first(where: { $0.subscription.end(over: handle) }) {
      return report(.notSubscribed(subject: newest.subject, .tooManySubscriptions(limit)))
    }
    handle.countSubscription(-1)
    throw .tooManySubscriptions(limit)
  }

  func add(_ handler: MessageHandler) {
    state.withLock { $0.handlers[handler.address] = handler }
  }

  func remove(_ handler: MessageHandler) {
    // The caller retains it, so it is not released under the lock.
    state.withLock { state in
      // Another subscription may have the same address by now.
      if state.handlers[handler.address] === handler { state.handlers[handler.address] = nil }
    }
  }
}
#endif
