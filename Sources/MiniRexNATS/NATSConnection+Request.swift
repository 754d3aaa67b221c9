#if NATS
public import MiniRex

extension NATSConnection {
  /// Sends a request and returns the answer.
  ///
  /// ```swift
  /// let quote = nats.request(Quote.self, QuoteRequest("ACME"), on: "quotes", timeout: .seconds(2))
  /// ```
  ///
  /// The request is sent once, when the first subscriber joins. If the last subscriber cancels
  /// before the answer arrives, the answering process cancels its work.
  ///
  /// The task fails immediately with ``NATSError/noResponders`` if no process answers on the
  /// subject, and with ``NATSError/disconnected`` if the connection is lost. It fails with
  /// ``NATSError/refused(code:message:)`` if the answering process failed.
  ///
  /// - Parameters:
  ///   - type: The type of the answer.
  ///   - request: The request, encoded as ``publish(_:on:headers:replySubject:)`` encodes it.
  ///   - subject: A subject without wildcards.
  ///   - headers: The headers of the request. The default is empty.
  ///   - timeout: The time after which it fails with ``NATSError/timedOut``, counted from the first
  ///     subscriber. A negative timeout is zero.
  ///   - clock: The clock that measures the timeout. The default is `ContinuousClock`.
  ///   - fileID: The file of the call, for an instrument.
  ///   - line: The line of the call, for an instrument.
  public func request<Answer: Codable & Sendable, Request: Codable & Sendable>(
    _ type: Answer.Type = Answer.self, _ request: Request, on subject: String,
    headers: NATSHeaders = [:], timeout: Duration, clock: any Clock<Duration> = ContinuousClock(),
    fileID: String = #fileID, line: Int = #line
  ) -> PublishedTask<Answer, NATSError> {
    let core = core
    let headers = core.propagating(headers)
    let timeout = max(.zero, timeout)
    let limit = limit(timeout, by: clock)
    let task = PublishedTask<Answer, NATSError> { finish in
      core.ask(request, on: subject, headers: headers, within: limit) { answer in
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

  /// Sends a request, and publishes its progress and the answer.
  ///
  /// Progress and the answer wait while the callback of an earlier answer on this connection blocks.
  /// Progress does not extend the timeout. Progress that cannot be decoded is skipped and reported
  /// on ``diagnostics``. See the overload without progress for failures and the parameters.
  public func request<
    Answer: Codable & Sendable, Progress: Codable & Sendable, Request: Codable & Sendable
  >(
    _ type: Answer.Type = Answer.self, progress: Progress.Type, _ request: Request,
    on subject: String, headers: NATSHeaders = [:], timeout: Duration,
    clock: any Clock<Duration> = ContinuousClock(), fileID: String = #fileID, line: Int = #line
  ) -> ProgressiveTask<Progress, Answer, NATSError> {
    let core = core
    let headers = core.propagating(headers)
    let timeout = max(.zero, timeout)
    let limit = limit(timeout, by: clock)
    let task = ProgressiveTask<Progress, Answer, NATSError> { report, finish in
      core.ask(request, on: subject, headers: headers, within: limit, hasProgress: true) { answer in
        switch answer {
        case .result(let message): finish(message.result(as: Answer.self))
        case .progress(let message):
          do throws(NATSError) {
            report(try Codec<Progress>.decode(message.bytes))
          } catch {
            core.report(.undecodable(subject: subject, reason: "\(error)"))
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

/// The timeout that the request measures internally, or `nil` if the clock needs a `timeout`
/// operator.
private func limit(_ timeout: Duration, by clock: any Clock<Duration>) -> Duration? {
  clock is ContinuousClock ? timeout : nil
}

extension ConnectionCore {
  /// - Parameter limit: The timeout, or `nil` if the caller applies one.
  fileprivate func ask<Request: Codable & Sendable>(
    _ request: Request, on subject: String, headers: NATSHeaders, within limit: Duration?,
    hasProgress: Bool = false, _ receive: @escaping @Sendable (Inbox.Answer) -> Void
  ) -> Subscription {
    let timer = limit.map {
      RequestTimeouts.shared.wait(for: $0) { receive(.failure(.timedOut)) }
    }
    do throws(NATSError) {
      var token = Subscription.ended
      try Codec.encode(request) { bytes throws(NATSError) in
        token = self.request(
          OutgoingMessage(subject: subject, headers: headers, bytes: bytes),
          hasProgress: hasProgress, receive)
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

/// The headers of a failed request that other NATS clients use as well.
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
#endif
