#if NATS
internal import CNATS
internal import Dispatch
internal import MiniRex

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

extension ConnectionCore {
  /// Delivers the messages that the connection has received, and starts the next connection.
  func didLoseConnection(_ closure: UInt) {
    let lost = state.withLock { state -> (LibNATSConnection, [MessageHandler])? in
      state.lost = closure
      guard let handle = state.handle, handle.closure == closure, !state.isOpening,
        !state.mustClose
      else { return nil }
      state.earlier.count(handle)
      state.handle = nil
      state.isOpening = true
      state.lastFailure = nil
      if case .open = state.phase { state.phase = .waiting([], bytes: 0) }
      return (handle, Array(state.handlers.values))
    }
    guard let (handle, handlers) = lost else { return }
    CallbackRegistry.remove(UnsafeMutableRawPointer(bitPattern: closure))
    add(discoveredServers(handle))
    let unconfirmed = handle.unconfirmed
    if unconfirmed > 0 { report(.possiblyLost(count: unconfirmed)) }
    inbox.reopen(over: self)
    hasDisconnected()
    for handler in handlers { handler.leave() }
    connectLater(attempt: 1, refusals: 0)
  }

  private func hasDisconnected() {
    let isClosing = state.withLock { $0.mustClose }
    if !isClosing { report(.reconnecting) }
    inbox.failLost()
  }

  /// Runs after libnats has closed the connection, because `close()` requested it or because the
  /// server refused a command, such as one subscription too many.
  func hasClosed(_ closure: UInt, _ error: NATSError?, _ words: String) {
    let (mustClose, handle) = state.withLock { ($0.mustClose, $0.handle) }
    if mustClose {
      CallbackRegistry.remove(UnsafeMutableRawPointer(bitPattern: closure))
      if error != nil, let count = handle?.unconfirmed, count > 0 {
        report(.possiblyLost(count: count))
      }
      return finish(error)
    }
    handle?.wire.lose()
    learn(from: words.lowercased(), handle)
    if let error { report(.connection(error)) }
    didLoseConnection(closure)
  }

  /// Reduces the limit that the error names: otherwise the same command would close each
  /// connection.
  private func learn(from words: String, _ handle: LibNATSConnection?) {
    if words.contains("maximum control line") { halveLineLimit() }
    guard words.contains("maximum subscriptions"), let handle else { return }
    let count = handle.subscriptions
    state.withLock { state in
      state.subscriptionLimit = max(
        1, min(state.subscriptionLimit, count) - state.subscriptionExcess)
      state.subscriptionExcess *= 2
    }
  }

  /// Adds the servers that `server` announced in its first line.
  func learn(_ cluster: [String], from server: ServerAddress) {
    if trustsAnnouncements(of: server) { add(cluster) }
  }

  /// Adds servers, with the user of the first URL, and with TLS if any URL requires it.
  private func add(_ cluster: [String]) {
    guard let servers = try? servers.get() else { return }
    let found = cluster.compactMap { text in
      (try? ServerAddress(text)).map { ServerAddress(discovered: $0, by: servers) }
    }
    state.withLock { state in
      var known = Set((servers + state.discovered).map(\.description))
      state.discovered += found.filter { known.insert($0.description).inserted }
    }
  }

  /// Returns the servers that were announced after the first line.
  private func discoveredServers(_ handle: LibNATSConnection) -> [String] {
    var found: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
    var count: Int32 = 0
    let status = natsConnection_GetDiscoveredServers(handle.connection.pointer, &found, &count)
    guard status == NATS_OK, let found else { return [] }
    defer { free(found) }
    return (0..<Int(count)).compactMap { index in
      guard let text = found[index] else { return nil }
      defer { free(text) }
      return String(cString: text)
    }
  }
}

extension ServerAddress {
  fileprivate init(discovered address: ServerAddress, by servers: [ServerAddress]) {
    host = address.host
    port = address.port
    requiresTLS = servers.contains(where: \.requiresTLS)
    user = servers.first?.user
    password = servers.first?.password
    // Clusters announce numeric addresses, and certificates contain names.
    certificateName = address.isNumber ? servers.first { !$0.isNumber }?.host : nil
  }

  private var isNumber: Bool {
    host.utf8.allSatisfy { 0x30...0x3A ~= $0 || $0 == 0x2E } || host.contains(":")
  }
}
#endif
