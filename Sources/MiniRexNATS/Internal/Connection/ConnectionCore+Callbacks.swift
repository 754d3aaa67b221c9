#if NATS
internal import CNATS
internal import MiniRex

/// The events of a connection that libnats reports.
extension ConnectionCore {
  func setCallbacks(
    _ made: OpaquePointer, _ closure: UnsafeMutableRawPointer?
  ) throws(NATSError) {
    try require(
      natsOptions_SetDisconnectedCB(
        made,
        { connection, closure in
          guard let connection, let core = CallbackRegistry.find(closure) else { return }
          // The callback for a closed connection follows.
          if natsConnection_IsClosed(connection) { return }
          core.didLoseConnection(UInt(bitPattern: closure))
        }, closure), "callbacks")
    try require(
      natsOptions_SetErrorHandler(
        made,
        { connection, subscription, status, closure in
          guard let connection, let core = CallbackRegistry.find(closure) else { return }
          core.hasFailed(status, CPointer(connection), subscription.map { CPointer($0) })
        }, closure), "callbacks")
    try require(
      natsOptions_SetClosedCB(
        made,
        { connection, closure in
          guard let connection, let core = CallbackRegistry.find(closure) else { return }
          let (status, words) = lastWords(connection)
          let error = status == NATS_OK ? nil : NATSError(status, words)
          core.hasClosed(UInt(bitPattern: closure), error, words)
        }, closure), "callbacks")
  }

  private func hasFailed(
    _ status: natsStatus, _ connection: CPointer, _ subscription: CPointer?
  ) {
    // The last error of the connection may belong to a later failure.
    var last = NATS_OK
    let own = nats_GetLastError(&last).map { String(cString: $0) }
    let words = last == status ? own ?? "" : lastWords(connection.pointer).1
    switch status {
    case NATS_SLOW_CONSUMER:
      guard let subscription else { return }
      // The subscription may be freed: libnats does not retain it for this call.
      let address = UInt(bitPattern: subscription.pointer)
      state.withLock { $0.handlers[address] }?.hasDropped()
    case NATS_NOT_PERMITTED:
      let parts = words.split(separator: "\"")
      report(.notPermitted(subject: parts.count > 1 ? String(parts[1]) : "", message: words))
    default:
      let error = NATSError(status, words)
      state.withLock { $0.lastFailure = error }
      report(.connection(error))
    }
  }
}

private func lastWords(_ connection: OpaquePointer) -> (natsStatus, String) {
  var words: UnsafePointer<CChar>?
  let status = natsConnection_GetLastError(connection, &words)
  return (status, words.map { String(cString: $0) } ?? "")
}
#endif
