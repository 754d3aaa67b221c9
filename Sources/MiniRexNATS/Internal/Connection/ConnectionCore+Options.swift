#if NATS
internal import CNATS
internal import Dispatch
internal import MiniRex

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

extension ConnectionCore {
  /// Creates the options of libnats, with this connection as the target of its callbacks, see
  /// `CallbackRegistry`.
  func makeOptions(
    for server: ServerAddress, _ closure: UnsafeMutableRawPointer?, _ wire: LoopSocket
  ) throws(NATSError) -> OpaquePointer {
    guard LibNATS.isOpen else { throw .other(code: 0, message: "libnats could not be opened.") }
    var made: OpaquePointer?
    guard natsOptions_Create(&made) == NATS_OK, let made else {
      throw .other(code: 0, message: "libnats could not allocate memory.")
    }
    do throws(NATSError) {
      try checkPrefixes()
      try setBehaviour(made, wire)
      try setCredentials(made, server)
      try setTLS(made, server)
      try setCallbacks(made, closure)
    } catch {
      natsOptions_Destroy(made)
      throw error
    }
    return made
  }

  /// - Parameter what: The text of the error if libnats refuses the value. It never contains the
  ///   value, which may be secret.
  func require(_ status: natsStatus, _ what: String) throws(NATSError) {
    if status != NATS_OK { throw .invalidOptions(what) }
  }

  /// Throws for a zero byte, which would hide the rest of the text from libnats and the system.
  private func checkText(_ text: String, _ what: String) throws(NATSError) {
    if text.utf8.contains(0) { throw .invalidOptions("\(what) contains a zero byte.") }
  }

  private func checkPrefixes() throws(NATSError) {
    guard Subject.isName(options.jetStreamDomain ?? "hub") else {
      throw .invalidOptions("jetStreamDomain")
    }
    do throws(NATSError) {
      try Subject.checkToPublish(options.inboxPrefix)
    } catch {
      throw .invalidOptions("inboxPrefix")
    }
  }

  /// Sets the options that depend on the first line of the server.
  ///
  /// - Parameter url: The URL that libnats connects to, see `SocketHandover`.
  func prepare(
    _ made: OpaquePointer, for server: ServerAddress, _ info: ServerInfo, url: String
  ) throws(NATSError) {
    try require(natsOptions_SetURL(made, url), "A URL is not a server URL.")
    guard options.tls != nil || server.requiresTLS || info.requiresTLS else { return }
    let name = options.tls?.expectedHostname ?? server.certificateName ?? server.host
    try checkText(name, "expectedHostname")
    try require(natsOptions_SetExpectedHostname(made, name), "expectedHostname")
  }

  /// Runs `connect` with a callback of libnats for the token, which follows the TLS handshake.
  ///
  /// Without a token, the callback still announces `CONNECT`, see `HandshakeObserver`.
  func withToken(
    for server: ServerAddress, _ made: OpaquePointer, _ connect: () -> natsStatus
  ) throws(NATSError) -> natsStatus {
    guard let token = try token(for: server) else { return run(connect, made, token: nil) }
    return token.withCString { run(connect, made, token: $0) }
  }

  private func run(
    _ connect: () -> natsStatus, _ made: OpaquePointer, token: UnsafePointer<CChar>?
  ) -> natsStatus {
    let status = natsOptions_SetTokenHandler(
      made,
      { token in
        // A reconnect of libnats would come after the token is released.
        guard let handover = HandshakeObserver.current else { return nil }
        handover.install()
        return token.map { UnsafePointer($0.assumingMemoryBound(to: CChar.self)) }
      }, token.map { UnsafeMutableRawPointer(mutating: $0) })
    return status == NATS_OK ? connect() : status
  }

  private func setBehaviour(_ made: OpaquePointer, _ wire: LoopSocket) throws(NATSError) {
    if let name = options.name {
      let json = try ProtocolText.json(name, "name", lineLimit: lineLimit)
      try require(natsOptions_SetName(made, json), "name")
    }
    try require(
      natsOptions_SetTimeout(made, max(1, options.connectTimeout.inMilliseconds)), "connectTimeout")
    // libnats never reconnects, see `LoopSocket`. Without the option it drops the received messages
    // when the connection is lost.
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
      natsOptions_UseGlobalMessageDelivery(made, !options.usesDedicatedThreads),
      "usesDedicatedThreads"
    )
    // Without this option, libnats starts a writing thread per connection, which waits 1 ms before
    // each write.
    try require(natsOptions_SetSendAsap(made, true), "sending")
    try require(attachToLoop(made, wire), "loop")
  }

  /// Sets the credentials.
  ///
  /// A user in the URL precedes the user of the options.
  private func setCredentials(
    _ made: OpaquePointer, _ server: ServerAddress
  ) throws(NATSError) {
    switch options.credentials.kind {
    case .none: break
    case .user(let name, let password):
      if server.user == nil { try setUser(made, name, password) }
    case .token: _ = try token(for: server)
    case .file(let path, let seed):
      try checkFiles(seed == nil ? [path] : [path, seed], seed: seed ?? path)
      try require(
        natsOptions_SetUserCredentialsFromFiles(made, path, seed),
        "The credentials file is invalid.")
    case .nkey(let key, let seedFile):
      try checkFiles([seedFile], seed: seedFile)
      let key = try ProtocolText.json(key, "The NKey", lineLimit: lineLimit)
      try require(
        natsOptions_SetNKeyFromSeed(made, key, seedFile), "The NKey or its seed file is invalid.")
    }
    if let user = server.user {
      if let password = server.password {
        try setUser(made, user, password)
      } else {
        _ = try token(for: server)
      }
    }
  }

  /// A user in the URL without a password is a token.
  private func token(for server: ServerAddress) throws(NATSError) -> String? {
    var token: String?
    if case .token(let text) = options.credentials.kind { token = text }
    if let user = server.user { token = server.password == nil ? user : nil }
    guard let token else { return nil }
    return try ProtocolText.json(token, "The token", lineLimit: lineLimit)
  }

  private func setUser(
    _ made: OpaquePointer, _ user: String, _ password: String
  ) throws(NATSError) {
    let user = try ProtocolText.json(user, "The user", lineLimit: lineLimit)
    let json = try ProtocolText.json(password, "The password", lineLimit: lineLimit)
    try require(natsOptions_SetUserInfo(made, user, json), "credentials")
  }

  /// Throws if a file is missing.
  ///
  /// libnats reads the files later, and reports a missing file like a missing server.
  private func checkFiles(_ paths: [String?], seed: String) throws(NATSError) {
    for case let path? in paths {
      try checkText(path, "The path of the credentials file")
      if access(path, R_OK) != 0 {
        throw .invalidOptions("The credentials file at \(path) cannot be read.")
      }
    }
    let text = (try? String(contentsOfFile: seed, encoding: .utf8)) ?? ""
    let hasSeed = text.split(whereSeparator: \.isNewline).contains { line in
      line.drop(while: \.isWhitespace).hasPrefix("SU")
    }
    if !hasSeed { throw .invalidOptions("The credentials file at \(seed) has no seed.") }
  }

  /// A Boolean value that indicates whether servers that `server` announces are used.
  ///
  /// They are announced before TLS, so an authority of the options or a name must restrict their
  /// certificates.
  func trustsAnnouncements(of server: ServerAddress) -> Bool {
    guard options.tls != nil || server.requiresTLS else { return true }
    return options.tls?.trustedCertificates != nil || options.tls?.expectedHostname != nil
  }

  private func setTLS(_ made: OpaquePointer, _ server: ServerAddress) throws(NATSError) {
    guard options.tls != nil || server.requiresTLS else { return }
    let tls = options.tls ?? NATSTLS()
    try require(natsOptions_SetSecure(made, true), "libnats was built without TLS.")
    if !trustsAnnouncements(of: server) {
      try require(natsOptions_SetIgnoreDiscoveredServers(made, true), "discovery")
    }
    for case let path? in [tls.trustedCertificates, tls.certificate, tls.key] {
      try checkText(path, "The path of a certificate or key")
    }
    if let path = tls.trustedCertificates {
      try require(
        natsOptions_LoadCATrustedCertificates(made, path),
        "The trusted certificates at \(path) cannot be loaded.")
    }
    if let certificate = tls.certificate, let key = tls.key {
      try require(
        natsOptions_LoadCertificatesChain(made, certificate, key),
        "The certificate at \(certificate) or its key cannot be loaded.")
    }
  }
}

extension Duration {
  /// The milliseconds as libnats counts them, clamped to its maximum.
  var inMilliseconds: Int64 {
    let (seconds, attoseconds) = components
    let (product, overflows) = seconds.multipliedReportingOverflow(by: 1_000)
    return overflows
      ? (seconds < 0 ? 0 : Int64.max / 4)
      : min(Int64.max / 4, product + attoseconds / 1_000_000_000_000_000)
  }
}
#endif
