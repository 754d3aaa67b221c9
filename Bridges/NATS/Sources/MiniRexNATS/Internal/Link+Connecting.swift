internal import CNATS
internal import Dispatch
internal import MiniRex

extension Link {
  /// Connects on a thread of the system's, because an attempt waits for the network.
  func start() {
    DispatchQueue.global().async { [self] in connect(attempt: 1, refusals: 0) }
  }

  /// It is made here and not by libnats, which does not tell why an attempt of its own has failed, and
  /// cannot connect again, see `Wire`.
  private func connect(attempt: Int, refusals: Int) {
    if state.withLock({ $0.mustClose }) { return finish(nil) }
    let handle: Handle
    do throws(NATSError) {
      handle = try connectOnce()
    } catch {
      let refusals = error == .notAuthorized ? refusals + 1 : 0
      let isLast = refusals == 2 || attempt >= options.reconnectAttempts ?? .max
      // Later on, a file that is just being replaced is read again.
      if case .invalidOptions = error, connection == 0 { return finish(error) }
      if isLast { return finish(error) }
      tellOnce(error)
      return connectLater(attempt: attempt + 1, refusals: refusals)
    }
    let mustClose = state.withLock { state in
      state.handle = handle
      return state.mustClose
    }
    if mustClose { return natsConnection_Close(handle.connection.pointer) }
    open(handle)
  }

  func connectLater(attempt: Int, refusals: Int) {
    let mustClose = state.withLock { state in
      state.isPausing = !state.mustClose
      return state.mustClose
    }
    if mustClose { return finish(nil) }
    let jitter = max(0, options.reconnectJitter.inMilliseconds)
    let wait = max(1, options.reconnectWait.inMilliseconds) + .random(in: 0...jitter)
    DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(Int(wait))) { [self] in
      if endPause() { connect(attempt: attempt, refusals: refusals) }
    }
  }

  /// False if it has been closed meanwhile.
  private func endPause() -> Bool {
    state.withLock { state in
      defer { state.isPausing = false }
      return state.isPausing
    }
  }

  private func connectOnce() throws(NATSError) -> Handle {
    let (closure, wire) = (Links.add(self), Wire())
    EventLoop.shared.add(wire)
    var connection: OpaquePointer?
    let status: natsStatus
    do throws(NATSError) {
      let made = try makeOptions(closure, wire)
      defer { natsOptions_Destroy(made) }
      status = natsConnection_Connect(&connection, made)
    } catch {
      Links.remove(closure)
      EventLoop.shared.remove(wire) {}
      throw error
    }
    if status == NATS_OK, let connection {
      return Handle(CPointer(connection), wire, UInt(bitPattern: closure))
    }
    Links.remove(closure)
    EventLoop.shared.remove(wire) {}
    var last = NATS_OK
    if status == NATS_ADDRESS_MISSING || status == NATS_INVALID_ARG {
      throw .invalidOptions("A URL is not one of a server.")
    }
    // With TLS 1.3 this side is the first to be content, and a server without a certificate that it
    // has asked for closes then.
    if status == NATS_PROTOCOL_ERROR, options.tls != nil {
      throw .tls("The server has not let this side in; it may ask for a certificate.")
    }
    throw NATSError(status, nats_GetLastError(&last).map { String(cString: $0) })
  }

  /// A server that is not there is tried for ever, and is news once.
  private func tellOnce(_ error: NATSError) {
    let isNews = state.withLock { state in
      defer { state.lastFailure = error }
      return state.lastFailure != error
    }
    if isNews { tell(.connection(error)) }
  }

  /// Does what has waited for the connection, in order, and lets others do so themselves then.
  private func open(_ handle: Handle) {
    let isFirst = countConnection() == 1
    while true {
      let operations = state.withLock { state -> [Operation]? in
        guard case .waiting(var operations, _) = state.phase, !handle.wire.isLost else {
          return nil
        }
        if !state.returning.isEmpty {
          operations = state.returning.map { .subscribe($0, $1) }
          state.returning = []
          return operations
        }
        state.phase = operations.isEmpty ? .open(handle) : .waiting([], bytes: 0)
        return operations
      }
      guard let operations, !operations.isEmpty else { break }
      for (index, operation) in operations.enumerated() {
        if handle.wire.isLost {
          giveBack(operations[index...])
          break
        }
        perform(operation, over: handle)
      }
    }
    if !state.withLock({ $0.mustClose }) { tell(.connected) }
    if !isFirst { callHooks() }
    let isLost = state.withLock { state in
      state.isOpening = false
      return state.lost == handle.closure
    }
    if isLost { hasLost(handle.closure) }
  }

  /// Keeps what the connection was lost before, for the next one.
  private func giveBack(_ operations: ArraySlice<Operation>) {
    state.withLock { state in
      guard case .waiting(let later, var bytes) = state.phase else { return }
      for case .publish(let message) in operations { bytes += message.size }
      state.phase = .waiting(operations + later, bytes: bytes)
    }
  }

  private func perform(_ operation: Operation, over handle: Handle) {
    switch operation {
    case .subscribe(let feed, let sink):
      start(feed, sink, over: handle)
    case .publish(let message):
      do throws(NATSError) {
        try message.send(over: handle, sendLimit: .max)
      } catch {
        tell(.notSent(subject: message.subject, error))
      }
    }
  }
}
