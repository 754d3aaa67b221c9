internal import CNATS
internal import Dispatch
internal import MiniRex

extension Link {
  /// Sends what was published, delivers what has been received, and closes; waits for nothing.
  func close() {
    enum Way {
      case drain(Handle)
      case close(Handle)
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
      case .waiting: return state.handle.map { .close($0) } ?? .none
      case .draining, .closed: return .none
      }
    }
    switch way {
    case .none: break
    case .finish: DispatchQueue.global().async { [self] in finish(nil) }
    case .close(let handle): closeAtOnce(handle)
    case .drain(let handle):
      tell(.draining)
      let limit = max(1, options.drainTimeout.inMilliseconds)
      if natsConnection_DrainTimeout(handle.connection.pointer, limit) != NATS_OK {
        return closeAtOnce(handle)
      }
      // After its time libnats waits for a minute longer for a server that does not answer.
      DispatchQueue.global().asyncAfter(
        deadline: .now() + .milliseconds(Int(min(2 * limit, Int64(Int32.max))))
      ) {
        [weak handle] in
        if let handle { natsConnection_Close(handle.connection.pointer) }
      }
    }
  }

  private func closeAtOnce(_ handle: Handle) {
    DispatchQueue.global().async { natsConnection_Close(handle.connection.pointer) }
  }
}

extension Link {
  /// Is called once, when libnats calls nothing of this connection any more.
  func finish(_ error: NATSError?) {
    let last = state.withLock { state in
      state.mustClose ? nil : error == .noServer ? state.lastFailure ?? error : error
    }
    giveUpWaiting(last ?? .closed)
    teller.async { [self] in
      inbox.failAll(last ?? .closed)
      services.cancelAll()
      status.value = .closed(last)
      status.end()
      troubles.end()
      hasClosed.finish(.success(()))
    }
  }

  /// When it returns, what has waited has gone, and so have the publishers that it was waiting for.
  private func giveUpWaiting(_ error: NATSError) {
    let (operations, _, _) = state.withLock { state -> ([Operation], [(Feed, Sink)], Handle?) in
      defer {
        state.phase = .closed
        state.handle = nil
        state.returning = []
      }
      // What goes is released after the lock.
      if case .waiting(let operations, _) = state.phase {
        return (operations, state.returning, state.handle)
      }
      if case .open(let handle) = state.phase { return ([], state.returning, handle) }
      return ([], state.returning, state.handle)
    }
    for case .publish(let message) in operations {
      tell(.notSent(subject: message.subject, error))
    }
  }
}
