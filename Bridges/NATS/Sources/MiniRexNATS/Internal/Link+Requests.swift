internal import MiniRex

extension Link {
  /// Sends a request, and calls `receive` with progress and once with what ends it.
  ///
  /// - Parameter tellsOfLeaving: If whoever answers is told when the token ends before that.
  func request(
    _ message: Outgoing, tellsOfLeaving: Bool = true,
    _ receive: @escaping @Sendable (Inbox.Answer) -> Void
  ) -> Subscription {
    let number = inbox.add(Inbox.Request(subject: message.subject, receive: receive), over: self)
    var message = message
    message.replySubject = inbox.replySubject(of: number)
    do throws(NATSError) {
      try publish(message, atOnce: true)
    } catch {
      inbox.remove(number)?.receive(.failure(error))
      return .ended
    }
    return Subscription { [self] in
      if let request = inbox.remove(number), tellsOfLeaving {
        leave(request.subject, inbox.replySubject(of: number))
      }
    }
  }

  /// Tells whoever answers; if this is lost, the probe finds out.
  private func leave(_ subject: String, _ replySubject: String) {
    var text = replySubject
    text.withUTF8 { bytes in
      try? publish(
        Outgoing(
          subject: Services.cancelling(subject), headers: [:], bytes: UnsafeRawBufferPointer(bytes))
      )
    }
  }
}
