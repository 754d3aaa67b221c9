#if NATS
internal import MiniRex

extension ConnectionCore {
  /// Sends a request, and calls `receive` with each progress and once with the result.
  ///
  /// - Parameters:
  ///   - hasProgress: A Boolean value that indicates whether progress is delivered, in order.
  ///   - sendsCancellation: A Boolean value that indicates whether an earlier cancellation is sent to
  ///     the answering process.
  ///   - atOnce: `false` to let the event loop write this message together with others.
  func request(
    _ message: OutgoingMessage, hasProgress: Bool = false, sendsCancellation: Bool = true,
    atOnce: Bool = true,
    _ receive: @escaping @Sendable (Inbox.Answer) -> Void
  ) -> Subscription {
    let request = Inbox.Request(subject: message.subject, receive: receive)
    let number = inbox.add(request, hasProgress: hasProgress, over: self)
    var message = message
    message.replySubject = inbox.replySubject(of: number)
    do throws(NATSError) {
      try publish(message, atOnce: atOnce)
    } catch {
      inbox.remove(number)?.receive(.failure(error))
      return .ended
    }
    return Subscription { [self] in
      if let request = inbox.remove(number), sendsCancellation {
        leave(request.subject, inbox.replySubject(of: number))
      }
    }
  }

  /// Sends the cancellation.
  ///
  /// If it is lost, a probe finds the canceled request.
  private func leave(_ subject: String, _ replySubject: String) {
    var text = replySubject
    text.withUTF8 { bytes in
      try? publish(
        OutgoingMessage(
          subject: RequestServer.cancelling(subject), headers: [:],
          bytes: UnsafeRawBufferPointer(bytes))
      )
    }
  }
}
#endif
