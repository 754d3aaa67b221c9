internal import MiniRex

/// A request that has come, and the way to answer it once.
final class Asked: Sendable {
  private let link: Link
  private let replySubject: String
  private let number: UInt64
  private let isAnswered = Lock(false)

  init(_ replySubject: String, _ number: UInt64, over link: Link) {
    self.link = link
    self.replySubject = replySubject
    self.number = number
  }

  func report<Progress: Codable & Sendable>(_ progress: Progress) {
    guard replySubject.hasPrefix(Inbox.mark) else { return }
    send(progress, on: replySubject + ".progress")
  }

  func finish<Answer: Codable & Sendable, Failure: Error>(_ result: Result<Answer, Failure>) {
    if !take() { return }
    switch result {
    case .success(let answer): send(answer, on: replySubject)
    case .failure(let error): refuse(error)
    }
    link.services.end(number)
  }

  /// Answers if nothing else has: a task may end without a result.
  func end() {
    if !take() { return }
    refuse(NATSError.refused(code: 500, message: "It has ended without a result."))
    link.services.end(number)
  }

  func refuse(_ error: any Error) {
    var (code, message) = (500, "\(error)")
    if case .refused(let ownCode, let ownMessage)? = error as? NATSError {
      (code, message) = (ownCode, ownMessage)
    }
    // A header is one line, and has something in it.
    let line = message.split(whereSeparator: \.isNewline).joined(separator: " ")
    let text = line.contains { !$0.isWhitespace } ? line : "\(type(of: error))"
    send(
      "", on: replySubject,
      headers: [ServiceHeader.code: "\(code)", ServiceHeader.message: text])
  }

  private func take() -> Bool {
    isAnswered.withLock { isAnswered in
      defer { isAnswered = true }
      return !isAnswered
    }
  }

  private func send<Value: Codable & Sendable>(
    _ value: Value, on subject: String, headers: NATSHeaders = [:]
  ) {
    do throws(NATSError) {
      try Codec.encode(value) { bytes throws(NATSError) in
        try link.publish(Outgoing(subject: subject, headers: headers, bytes: bytes), atOnce: true)
      }
    } catch {
      link.tell(.notSent(subject: subject, error))
      // Too large, or not to be encoded: whoever waits hears of it.
      if headers.isEmpty, subject == replySubject, error != .closed { refuse(error) }
    }
  }
}

extension Link {
  /// Subscribes to requests, and to what tells that somebody does not wait any more.
  func serve<Request: Codable & Sendable>(
    on subject: String, queue: String?,
    _ start: @escaping @Sendable (Request, Asked) -> Subscription
  ) -> Subscription {
    let leaving = subscribe(to: Services.cancelling(subject), queue: nil) { [services] message in
      services.requesterHasLeft(String(decoding: message.bytes, as: UTF8.self))
    }
    let requests = subscribe(to: subject, queue: queue) { [weak self] message in
      self?.take(message, start)
    }
    return Subscription {
      requests.invalidate()
      leaving.invalidate()
    }
  }

  private func take<Request: Codable & Sendable>(
    _ message: RawMessage, _ start: (Request, Asked) -> Subscription
  ) {
    guard let replySubject = message.replySubject else {
      let reason = "Nobody waits for an answer."
      return tell(.undecodable(subject: message.subject, reason: reason))
    }
    guard let number = services.begin(replySubject, limit: options.requestLimit) else {
      return Asked(replySubject, 0, over: self)
        .refuse(NATSError.refused(code: 503, message: "Too many requests are being answered."))
    }
    let asked = Asked(replySubject, number, over: self)
    do throws(NATSError) {
      let token = start(try Codec<Request>.decode(message.bytes), asked)
      services.keep(token, number)
      services.probe(over: self)
    } catch {
      tell(.undecodable(subject: message.subject, reason: "\(error)"))
      asked.finish(Result<String, NATSError>.failure(.refused(code: 400, message: "\(error)")))
    }
  }
}
