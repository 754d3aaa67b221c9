#if NATS
internal import CNATS
internal import MiniRex

extension ConnectionCore {
  func publish(_ message: OutgoingMessage, atOnce: Bool = false) throws(NATSError) {
    try ProtocolText.check(message, lineLimit: lineLimit)
    if !atOnce, state.withLock({ $0.appends(message) }) { return }
    let open: LibNATSConnection? = state.withLock { state in
      if case .open(let handle) = state.phase { handle } else { nil }
    }
    let handle = if let open, !open.wire.isLost { open } else { try keep(message) }
    guard let handle else { return }
    do throws(NATSError) {
      try handle.publish(message, sendLimit: options.sendLimit, atOnce: atOnce)
    } catch {
      if error != .closed || state.withLock({ $0.mustClose }) { throw error }
      // libnats has closed the connection, and reports that soon.
      handle.wire.lose()
      if try keep(message) != nil { throw .disconnected }
    }
  }

  /// Sends a text whose loss does not matter.
  func sendText(_ subject: String, _ text: String = "") {
    var text = text
    text.withUTF8 { bytes in
      try? publish(
        OutgoingMessage(subject: subject, headers: [:], bytes: UnsafeRawBufferPointer(bytes)))
    }
  }

  /// Queues the message until there is a connection, and returns the connection if there is one
  /// now.
  private func keep(_ message: OutgoingMessage) throws(NATSError) -> LibNATSConnection? {
    try state.withLock { state throws(NATSError) in
      if state.isLost { state.phase = .waiting([], bytes: 0) }
      switch state.phase {
      case .open(let handle): return handle
      case .draining, .closed: throw .closed
      case .waiting(var operations, let bytes):
        if bytes + message.size > options.sendLimit { throw .sendLimitReached }
        // A second reference to the array would force a copy of it.
        state.phase = .draining
        operations.append(.publish(QueuedMessage(message)))
        state.phase = .waiting(operations, bytes: bytes + message.size)
        return nil
      }
    }
  }
}
#endif
