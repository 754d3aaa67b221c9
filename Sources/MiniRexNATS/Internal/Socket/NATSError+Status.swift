#if NATS
internal import CNATS

extension NATSError {
  /// Creates the error for a status of libnats.
  init(_ status: natsStatus, _ words: String? = nil) {
    switch status {
    case NATS_CONNECTION_CLOSED, NATS_DRAINING, NATS_INVALID_SUBSCRIPTION: self = .closed
    case NATS_CONNECTION_DISCONNECTED, NATS_STALE_CONNECTION: self = .disconnected
    case NATS_NO_SERVER, NATS_IO_ERROR: self = .noServer
    case NATS_CONNECTION_AUTH_FAILED: self = .notAuthorized
    case NATS_SSL_ERROR, NATS_SECURE_CONNECTION_WANTED, NATS_SECURE_CONNECTION_REQUIRED:
      self = .tls(words ?? text(of: status))
    case NATS_NOT_PERMITTED: self = .notPermitted(words ?? text(of: status))
    case NATS_TIMEOUT: self = .timedOut
    case NATS_NO_RESPONDERS: self = .noResponders
    case NATS_INSUFFICIENT_BUFFER: self = .sendLimitReached
    default: self = .other(code: Int(status.rawValue), message: words ?? text(of: status))
    }
  }
}

private func text(of status: natsStatus) -> String {
  natsStatus_GetText(status).map { String(cString: $0) } ?? "\(status.rawValue)"
}
#endif
