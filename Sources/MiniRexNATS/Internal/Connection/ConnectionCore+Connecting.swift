#if NATS
internal import CNATS
internal import Dispatch
internal import MiniRex

extension ConnectionCore {
  func start() { connectOnThread(attempt: 1, refusals: 0) }

  /// Connects on a separate thread, because an attempt waits for the network.
  private func connectOnThread(attempt: Int, refusals: Int) {
    let hasStarted = startThread { [self] in connect(attempt: attempt, refusals: refusals) }
    if hasStarted { return }
    reportOnce(.other(code: 0, message: "The system has no thread available to connect on."))
    connectLater(attempt: attempt, refusals: refusals)
  }

  /// Connects to any server.
  ///
  /// libnats does not make the attempts: it does not report why they fail, and it cannot reconnect,
  /// see `LoopSocket`.
  private func connect(attempt: Int, refusals: Int) {
    if state.withLock({ $0.mustClose }) { return finish(nil) }
    let handle: LibNATSConnection
    do throws(NATSError) {
      handle = try connectToAny()
    } catch {
      if state.withLock({ $0.mustClose }) { return finish(nil) }
      let refusals = error == .notAuthorized ? refusals + 1 : 0
      let isLast = refusals == 2 || attempt >= options.reconnectAttempts ?? .max
      // A later attempt reads the files again, because a file may be in the middle of a
      // replacement.
      if case .invalidOptions = error, connection == 0 { return finish(error) }
      if isLast { return finish(error) }
      reportOnce(error)
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
    let day: Int64 = 86_400_000
    maintenance.asyncAfter(deadline: .now() + .milliseconds(Int(min(wait, 365 * day)))) { [self] in
      if endPause() { connectOnThread(attempt: attempt, refusals: refusals) }
    }
  }

  /// Returns `false` if the connection was closed during the pause.
  private func endPause() -> Bool {
    state.withLock { state in
      defer { state.isPausing = false }
      return state.isPausing
    }
  }

  /// Tries each server once, in an order that differs between clients.
  ///
  /// The bridge also tries servers that another server announces. It throws the last error of a
  /// server that was reached.
  private func connectToAny() throws(NATSError) -> LibNATSConnection {
    var failure = NATSError.noServer
    var tried: Set<String> = []
    var left = try servers.get().shuffled()
    while true {
      if left.isEmpty {
        left = state.withLock { $0.discovered }.filter { !tried.contains($0.description) }
        left.shuffle()
      }
      guard let server = left.popLast(), !state.withLock({ $0.mustClose }) else { throw failure }
      tried.insert(server.description)
      do throws(NATSError) {
        return try connectOnce(to: server)
      } catch {
        if case .invalidOptions = error { throw error }
        if error != .noServer { failure = error }
      }
    }
  }

  private func connectOnce(to server: ServerAddress) throws(NATSError) -> LibNATSConnection {
    let (closure, wire) = (CallbackRegistry.add(self), LoopSocket())
    EventLoop.shared.add(wire)
    var connection: OpaquePointer?
    let status: natsStatus
    let version: String?
    let attempt = ConnectAttempt(milliseconds: max(1, options.connectTimeout.inMilliseconds))
    do throws(NATSError) {
      try begin(attempt)
      let made = try makeOptions(for: server, closure, wire)
      defer { natsOptions_Destroy(made) }
      let socket = try attempt.connect(to: server)
      let info = ServerInfo(try attempt.readLine(from: socket))
      version = info.version
      learn(info.cluster, from: server)
      let handover = try SocketHandover(socket, repeating: info.line, in: attempt)
      try prepare(made, for: server, info, url: handover.url)
      attempt.expire(on: maintenance)
      status = try withToken(for: server, made) {
        handover.run { natsConnection_Connect(&connection, made) }
      }
      end(attempt)
    } catch {
      // A handover may still wait for libnats.
      attempt.cancel()
      end(attempt)
      CallbackRegistry.remove(closure)
      EventLoop.shared.remove(wire) {}
      throw error
    }
    if status == NATS_OK, let connection {
      state.withLock { $0.serverVersion = version }
      return LibNATSConnection(CPointer(connection), wire, UInt(bitPattern: closure))
    }
    CallbackRegistry.remove(closure)
    EventLoop.shared.remove(wire) {}
    if let error = attempt.error { throw error }
    var last = NATS_OK
    let words = nats_GetLastError(&last).map { String(cString: $0) }
    if status == NATS_SECURE_CONNECTION_WANTED {
      throw .tls("The server at \(server) does not offer TLS. No credentials were sent.")
    }
    if status == NATS_ADDRESS_MISSING || status == NATS_INVALID_ARG {
      throw .invalidOptions("A URL is not a server URL.")
    }
    // With TLS 1.3 the client completes the handshake first. A server that misses a required client
    // certificate closes the connection afterward.
    if status == NATS_PROTOCOL_ERROR, options.tls != nil || server.requiresTLS {
      throw .tls("The server closed the TLS connection. It may require a client certificate.")
    }
    throw NATSError(status, words)
  }

  private func begin(_ attempt: ConnectAttempt) throws(NATSError) {
    let mustClose = state.withLock { state in
      state.attempt = attempt
      return state.mustClose
    }
    if mustClose { throw .closed }
  }

  private func end(_ attempt: ConnectAttempt) {
    state.withLock { $0.attempt = nil }
  }

  /// Reports an error unless it repeats the previous one: attempts to reach a server never end.
  private func reportOnce(_ error: NATSError) {
    let isNew = state.withLock { state in
      defer { state.lastFailure = error }
      return state.lastFailure != error
    }
    if isNew { report(.connection(error)) }
  }

  /// Performs the queued operations in order.
  ///
  /// Then other threads use the connection directly.
  private func open(_ handle: LibNATSConnection) {
    let isFirst = countConnection() == 1
    while true {
      let operations = state.withLock { state -> [Operation]? in
        guard case .waiting(var operations, _) = state.phase, !handle.wire.isLost else {
          return nil
        }
        if !state.returning.isEmpty {
          // The newest are last, where a server refuses the subscriptions beyond its limit.
          operations = state.returning.sorted { $0.0.number < $1.0.number }
            .map { .subscribe($0, $1) }
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
    if !state.withLock({ $0.mustClose }) { report(.connected) }
    if !isFirst { runReconnectHooks() }
    let isLost = state.withLock { state in
      state.isOpening = false
      return state.lost == handle.closure
    }
    if isLost { didLoseConnection(handle.closure) }
  }

  /// Queues the operations that the lost connection did not perform.
  private func giveBack(_ operations: ArraySlice<Operation>) {
    state.withLock { state in
      guard case .waiting(let later, var bytes) = state.phase else { return }
      for case .publish(let message) in operations { bytes += message.size }
      state.phase = .waiting(operations + later, bytes: bytes)
    }
  }

  private func perform(_ operation: Operation, over handle: LibNATSConnection) {
    switch operation {
    case .subscribe(let subscription, let handler):
      start(subscription, handler, over: handle)
    case .publish(let message):
      do throws(NATSError) {
        try message.send(over: handle, sendLimit: .max)
      } catch {
        report(.notSent(subject: message.subject, error))
      }
    }
  }
}
#endif
