public import MiniRex

extension NATSConnection {
  /// Asks whoever answers on a subject, and gives the answer.
  ///
  /// ```swift
  /// let quote = nats.request(Quote.self, QuoteRequest("ACME"), on: "quotes", timeout: .seconds(2))
  /// ```
  ///
  /// It asks when the first subscriber comes, once for all of them. When the last one leaves before
  /// there is an answer, whoever answers is told, and cancels its work. It fails at once with
  /// ``NATSError/noResponders`` if nobody answers on that subject, with ``NATSError/disconnected`` if
  /// the connection is lost meanwhile, and with ``NATSError/refused(code:message:)`` if whoever
  /// answers has failed.
  ///
  /// - Parameters:
  ///   - type: What the answer is.
  ///   - request: What is asked, encoded like what is published.
  ///   - subject: Without wildcards.
  ///   - headers: What goes with it.
  ///   - timeout: After which it fails with ``NATSError/timedOut``, counted from the first subscriber.
  ///   - clock: What the time is measured with.
  ///   - fileID: Where it is written, for an instrument.
  ///   - line: Where it is written, for an instrument.
  public func request<Answer: Codable & Sendable, Request: Codable & Sendable>(
    _ type: Answer.Type = Answer.self, _ request: Request, on subject: String,
    headers: NATSHeaders = [:], timeout: Duration, clock: any Clock<Duration> = ContinuousClock(),
    fileID: String = #fileID, line: Int = #line
  ) -> PublishedTask<Answer, NATSError> {
    let link = link
    let limit = limit(timeout, by: clock)
    let task = PublishedTask<Answer, NATSError> { finish in
      link.ask(request, on: subject, headers: headers, within: limit) { answer in
        switch answer {
        case .result(let message): finish(message.result(as: Answer.self))
        case .progress: break
        case .failure(let error): finish(.failure(error))
        }
      }
    }
    let limited =
      limit == nil ? task.timeout(after: timeout, clock: clock).mapError { $0.flattened } : task
    return limited.trace("request on \(subject)", fileID: fileID, line: line)
  }

  /// Asks whoever answers on a subject, and gives its progress and the answer.
  ///
  /// Progress does not prolong the time; otherwise it is like the request without it. One that is
  /// not of its type is left out and told on ``troubles``.
  public func request<
    Answer: Codable & Sendable, Progress: Codable & Sendable, Request: Codable & Sendable
  >(
    _ type: Answer.Type = Answer.self, progress: Progress.Type, _ request: Request,
    on subject: String, headers: NATSHeaders = [:], timeout: Duration,
    clock: any Clock<Duration> = ContinuousClock(), fileID: String = #fileID, line: Int = #line
  ) -> ProgressiveTask<Progress, Answer, NATSError> {
    let link = link
    let limit = limit(timeout, by: clock)
    let task = ProgressiveTask<Progress, Answer, NATSError> { report, finish in
      link.ask(request, on: subject, headers: headers, within: limit) { answer in
        switch answer {
        case .result(let message): finish(message.result(as: Answer.self))
        case .progress(let message):
          do throws(NATSError) {
            report(try Codec<Progress>.decode(message.bytes))
          } catch {
            link.tell(.undecodable(subject: subject, reason: "\(error)"))
          }
        case .failure(let error): finish(.failure(error))
        }
      }
    }
    let limited =
      limit == nil ? task.timeout(after: timeout, clock: clock).mapError { $0.flattened } : task
    return limited.trace("request on \(subject)", fileID: fileID, line: line)
  }
}

/// The time that a request sees to itself; `nil` if `timeout` is to, which other clocks need.
private func limit(_ timeout: Duration, by clock: any Clock<Duration>) -> Duration? {
  clock is ContinuousClock && timeout >= .zero ? timeout : nil
}

extension Link {
  /// - Parameter limit: When it fails by itself; `nil` if somebody else sees to that.
  fileprivate func ask<Request: Codable & Sendable>(
    _ request: Request, on subject: String, headers: NATSHeaders, within limit: Duration?,
    _ receive: @escaping @Sendable (Inbox.Answer) -> Void
  ) -> Subscription {
    let timer = limit.map {
      Deadlines.shared.wait(for: $0) { receive(.failure(.timedOut)) }
    }
    do throws(NATSError) {
      var token = Subscription.ended
      try Codec.encode(request) { bytes throws(NATSError) in
        token = self.request(Outgoing(subject: subject, headers: headers, bytes: bytes), receive)
      }
      guard let timer else { return token }
      return Subscription { [token] in
        token.invalidate()
        timer.invalidate()
      }
    } catch {
      receive(.failure(error))
      return .ended
    }
  }
}

extension RawMessage {
  func result<Value: Codable & Sendable>(as type: Value.Type) -> Result<Value, NATSError> {
    do throws(NATSError) {
      if let message = header(ServiceHeader.message) {
        throw .refused(
          code: header(ServiceHeader.code).flatMap { Int($0) } ?? 500, message: message)
      }
      return .success(try Codec<Value>.decode(bytes))
    } catch {
      return .failure(error)
    }
  }
}

/// As other clients of NATS tell a failure.
enum ServiceHeader {
  static let code = "Nats-Service-Error-Code"
  static let message = "Nats-Service-Error"
}

extension TimeoutError<NATSError> {
  var flattened: NATSError {
    switch self {
    case .timedOut: .timedOut
    case .failed(let error): error
    }
  }
}
