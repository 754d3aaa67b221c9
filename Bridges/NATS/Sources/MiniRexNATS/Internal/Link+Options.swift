internal import CNATS
internal import Dispatch

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

extension Link {
  /// What libnats is told, with this link as what it calls; see `Links`.
  func makeOptions(
    _ closure: UnsafeMutableRawPointer?, _ wire: Wire
  ) throws(NATSError) -> OpaquePointer {
    guard Library.isOpen else { throw .other(code: 0, message: "libnats could not be opened.") }
    var made: OpaquePointer?
    guard natsOptions_Create(&made) == NATS_OK, let made else {
      throw .other(code: 0, message: "libnats has no memory.")
    }
    do throws(NATSError) {
      try setServers(made)
      try setBehaviour(made, wire)
      try setCredentials(made)
      try setTLS(made)
      try setCallbacks(made, closure)
    } catch {
      natsOptions_Destroy(made)
      throw error
    }
    return made
  }

  /// - Parameter what: What is told if libnats refuses it; never the value, which may be secret.
  private func require(_ status: natsStatus, _ what: String) throws(NATSError) {
    if status != NATS_OK { throw .invalidOptions(what) }
  }

  private func setServers(_ made: OpaquePointer) throws(NATSError) {
    let discovered = state.withLock { $0.discovered }
    let urls = servers.urls + discovered.filter { !servers.urls.contains($0) }
    var copies = urls.map { UnsafePointer(strdup($0)) }
    defer { for copy in copies { free(UnsafeMutablePointer(mutating: copy)) } }
    try require(
      natsOptions_SetServers(made, &copies, Int32(copies.count)), "A URL is not one of a server.")
  }

  private func setBehaviour(_ made: OpaquePointer, _ wire: Wire) throws(NATSError) {
    if let name = options.name { try require(natsOptions_SetName(made, name), "name") }
    try require(
      natsOptions_SetTimeout(made, max(1, options.connectTimeout.inMilliseconds)), "connectTimeout")
    // Not that it should, see `Wire`: what it has received would be dropped if it did not wait to.
    try require(natsOptions_SetAllowReconnect(made, true), "reconnect")
    try require(natsOptions_SetMaxReconnect(made, -1), "reconnect")
    try require(natsOptions_SetReconnectWait(made, 3_600_000), "reconnect")
    try require(
      natsOptions_SetPingInterval(made, max(1, options.pingInterval.inMilliseconds)),
      "pingInterval")
    try require(natsOptions_SetMaxPingsOut(made, 2), "pings")
    try require(
      natsOptions_SetReconnectBufSize(made, Int32(clamping: max(1, options.sendLimit))), "sendLimit"
    )
    try require(
      natsOptions_UseGlobalMessageDelivery(made, !options.callsOnOwnThreads), "callsOnOwnThreads")
    // Otherwise there is a thread for each connection that writes, and waits 1 ms before it does.
    try require(natsOptions_SetSendAsap(made, true), "sending")
    try require(attachToLoop(made, wire), "loop")
  }

  private func setCredentials(_ made: OpaquePointer) throws(NATSError) {
    switch options.credentials.kind {
    case .none: break
    case .user(let name, let password):
      try require(natsOptions_SetUserInfo(made, name, password), "credentials")
    case .token(let token): try require(natsOptions_SetToken(made, token), "credentials")
    case .file(let path, let seed):
      try require(
        natsOptions_SetUserCredentialsFromFiles(made, path, seed), "The credentials file.")
    case .nkey(let key, let seedFile):
      try require(natsOptions_SetNKeyFromSeed(made, key, seedFile), "The NKey or its seed file.")
    }
  }

  private func setTLS(_ made: OpaquePointer) throws(NATSError) {
    guard let tls = options.tls else { return }
    try require(natsOptions_SetSecure(made, true), "libnats has no TLS.")
    if let path = tls.trustedCertificates {
      try require(
        natsOptions_LoadCATrustedCertificates(made, path), "The trusted certificates at \(path).")
    }
    if let certificate = tls.certificate, let key = tls.key {
      try require(
        natsOptions_LoadCertificatesChain(made, certificate, key),
        "The certificate at \(certificate), or its key.")
    }
    if let name = tls.expectedHostname {
      try require(natsOptions_SetExpectedHostname(made, name), "expectedHostname")
    }
  }

  private func setCallbacks(
    _ made: OpaquePointer, _ closure: UnsafeMutableRawPointer?
  ) throws(NATSError) {
    try require(
      natsOptions_SetDisconnectedCB(
        made,
        { connection, closure in
          guard let connection, let link = Links.find(closure) else { return }
          // What has closed by itself is not lost.
          if natsConnection_IsClosed(connection) { return link.hasDisconnected() }
          link.hasLost(UInt(bitPattern: closure))
        }, closure), "callbacks")
    try require(
      natsOptions_SetErrorHandler(
        made,
        { connection, subscription, status, closure in
          guard let connection, let link = Links.find(closure) else { return }
          link.hasFailed(status, CPointer(connection), subscription.map { CPointer($0) })
        }, closure), "callbacks")
    try require(
      natsOptions_SetClosedCB(
        made,
        { connection, closure in
          guard let connection, let link = Links.remove(closure) else { return }
          link.finish(lastError(connection))
        }, closure), "callbacks")
  }
}

private func lastError(_ connection: OpaquePointer) -> NATSError? {
  let (status, words) = lastWords(connection)
  return status == NATS_OK ? nil : NATSError(status, words)
}

private func lastWords(_ connection: OpaquePointer) -> (natsStatus, String) {
  var words: UnsafePointer<CChar>?
  let status = natsConnection_GetLastError(connection, &words)
  return (status, words.map { String(cString: $0) } ?? "")
}

extension Link {
  func hasDisconnected() {
    let isClosing = state.withLock { $0.mustClose }
    if !isClosing { tell(.reconnecting) }
    teller.async { [inbox] in inbox.failAll(.disconnected) }
  }

  fileprivate func hasFailed(
    _ status: natsStatus, _ connection: CPointer, _ subscription: CPointer?
  ) {
    // That of the connection may be of a later failure.
    var last = NATS_OK
    let own = nats_GetLastError(&last).map { String(cString: $0) }
    let words = last == status ? own ?? "" : lastWords(connection.pointer).1
    switch status {
    case NATS_SLOW_CONSUMER:
      guard let subscription else { return }
      // It may have gone: libnats does not keep it for this call.
      let address = UInt(bitPattern: subscription.pointer)
      state.withLock { $0.sinks[address] }?.hasDropped()
    case NATS_NOT_PERMITTED:
      let parts = words.split(separator: "\"")
      tell(.notPermitted(subject: parts.count > 1 ? String(parts[1]) : "", message: words))
    default:
      let error = NATSError(status, words)
      state.withLock { $0.lastFailure = error }
      tell(.connection(error))
    }
  }
}

extension Duration {
  /// As libnats counts, and no more than it can.
  var inMilliseconds: Int64 {
    let (seconds, attoseconds) = components
    let (product, overflows) = seconds.multipliedReportingOverflow(by: 1_000)
    return overflows
      ? (seconds < 0 ? 0 : Int64.max / 4)
      : min(Int64.max / 4, product + attoseconds / 1_000_000_000_000_000)
  }
}
