#if NATS
internal import CNATS
internal import Dispatch
internal import MiniRex

extension ConnectionCore {
  /// Sends published messages, delivers received messages, and closes.
  ///
  /// It does not wait.
  func close() {
    enum Way {
      case drain(LibNATSConnection)
      case close(LibNATSConnection)
      case cancel(ConnectAttempt)
      case finish
      case none
    }
    let way = state.withLock { state -> Way in
      if state.mustClose { return .none }
      state.mustClose = true
      switch state.phase {
      case .open(let handle):
        state.phase = .draining
        return .drain(handle)
      case .waiting where state.isPausing:
        state.isPausing = false
        return .finish
      case .waiting:
        return state.handle.map { .close($0) } ?? state.attempt.map { .cancel($0) } ?? .none
      case .draining, .closed: return .none
      }
    }
    switch way {
    case .none: break
    case .finish: LibNATS.closing.async { [self] in finish(nil) }
    case .close(let handle): closeAtOnce(handle)
    case .cancel(let attempt): attempt.cancel()
    case .drain(let handle):
      report(.draining)
      let limit = max(1, options.drainTimeout.inMilliseconds)
      if natsConnection_DrainTimeout(handle.connection.pointer, limit) != NATS_OK {
        return closeAtOnce(handle)
      }
      // After the timeout, libnats waits a further minute for a server that does not answer.
      LibNATS.closing.asyncAfter(
        deadline: .now() + .milliseconds(Int(min(2 * limit, Int64(Int32.max))))
      ) {
        [weak handle] in
        if let handle { natsConnection_Close(handle.connection.pointer) }
      }
    }
  }

  private func closeAtOnce(_ handle: LibNATSConnection) {
    LibNATS.closing.async { natsConnection_Close(handle.connection.pointer) }
  }
}

extension ConnectionCore {
  /// Ends the connection permanently.
  ///
  /// Runs once, after the last callback of libnats for this connection.
  func finish(_ error: NATSError?) {
    let last = state.withLock { state in
      state.mustClose ? nil : error == .noServer ? state.lastFailure ?? error : error
    }
    giveUpWaiting(last ?? .closed)
    end(last)
  }

  /// Releases the queued operations, and with them the publishers that they retain, before it
  /// returns.
  private func giveUpWaiting(_ error: NATSError) {
    let (operations, _, _) = state.withLock {
      state -> ([Operation], [(ServerSubscription, MessageHandler)], LibNATSConnection?) in
      if let handle = state.handle { state.earlier.count(handle) }
      defer {
        state.phase = .closed
        state.handle = nil
        state.returning = []
      }
      // Release outside the lock.
      if case .waiting(let operations, _) = state.phase {
        return (operations, state.returning, state.handle)
      }
      if case .open(let handle) = state.phase { return ([], state.returning, handle) }
      return ([], state.returning, state.handle)
    }
    for case .publish(let message) in operations {
      report(.notSent(subject: message.subject, error))
    }
  }
}
#endif
