#if NATS
internal import MiniRex

/// A received request, which can be answered once.
final class IncomingRequest: Sendable {
  private let core: ConnectionCore
  private let replySubject: String
  let number: UInt64
  private let isAnswered = Lock(false)

  init(_ replySubject: String, _ number: UInt64, over core: ConnectionCore) {
    self.core = core
    self.replySubject = replySubject
    self.number = number
  }

  func report<Progress: Codable & Sendable>(_ progress: Progress) {
    guard Inbox.isMarked(replySubject) else { return }
    send(progress, on: replySubject + ".progress")
  }

  func finish<Answer: Codable & Sendable, Failure: Error>(_ result: Result<Answer, Failure>) {
    if !take() { return }
    switch result {
    case .success(let answer): send(answer, on: replySubject)
    case .failure(let error): refuse(error)
    }
    core.services.end(number)
  }

  /// Answers if the task has finished without a result.
  func end() {
    if !take() { return }
    refuse(NATSError.refused(code: 500, message: "The task ended without a result."))
    core.services.end(number)
  }

  func refuse(_ error: any Error) {
    var (code, message) = (500, "\(error)")
    if case .refused(let ownCode, let ownMessage)? = error as? NATSError {
      (code, message) = (ownCode, ownMessage)
    }
    // A header is one line and not empty.
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
        try core.publish(
          OutgoingMessage(subject: subject, headers: headers, bytes: bytes), atOnce: true)
      }
    } catch {
      core.report(.notSent(subject: subject, error))
      // The result is too large or cannot be encoded, and the requester receives the error.
      if headers.isEmpty, subject == replySubject, error != .closed { refuse(error) }
    }
  }
}

extension ConnectionCore {
  /// Subscribes to requests and to their cancellations.
  func serve<Request: Codable & Sendable>(
    on subject: String, queue: String?,
    _ start: @escaping @Sendable (Request, IncomingRequest) -> Subscription
  ) -> Subscription {
    let leaving = subscribe(to: RequestServer.cancelling(subject), queue: nil) {
      [services] message in
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
    _ message: RawMessage,
    _ start: @escaping @Sendable (Request, IncomingRequest) -> Subscription
  ) {
    let subject = message.subject
    guard let replySubject = message.replySubject else {
      return report(.undecodable(subject: subject, reason: "The request has no reply subject."))
    }
    if let number = services.begin(replySubject) {
      return inContext(of: message) {
        answer(message.bytes, subject, IncomingRequest(replySubject, number, over: self), start)
      }
    }
    let bytes = Array(message.bytes)
    let headers = options.propagation == nil ? NATSHeaders() : message.headers
    let waits = services.wait(replySubject, size: bytes.count) { [weak self] number in
      guard let self else { return }
      let request = IncomingRequest(replySubject, number, over: self)
      inContext(of: headers) { bytes.withUnsafeBytes { answer($0, subject, request, start) } }
    }
    if waits { return services.probe(over: self) }
    IncomingRequest(replySubject, 0, over: self)
      .refuse(NATSError.refused(code: 503, message: "Too many requests are in progress."))
  }

  private func answer<Request: Codable & Sendable>(
    _ bytes: UnsafeRawBufferPointer, _ subject: String, _ request: IncomingRequest,
    _ start: (Request, IncomingRequest) -> Subscription
  ) {
    do throws(NATSError) {
      let token = start(try Codec<Request>.decode(bytes), request)
      services.keep(token, request.number)
      services.probe(over: self)
    } catch {
      report(.undecodable(subject: subject, reason: "\(error)"))
      request.finish(Result<String, NATSError>.failure(.refused(code: 400, message: "\(error)")))
    }
  }
}
#endif
