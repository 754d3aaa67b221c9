public import MiniRex

extension NATSConnection {
  /// Answers requests on a subject, until the token ends.
  ///
  /// ```swift
  /// let service = nats.reply(on: "quotes", queue: "quotes") { (request: QuoteRequest) in
  ///   PublishedTask { try await quote(request) }
  /// }
  /// ```
  ///
  /// Each request is a task of its own, and many run at a time, up to ``NATSOptions/requestLimit``;
  /// one more is refused with the code 503. The task is cancelled when whoever asked has left, which
  /// it tells, or when its process has gone, which is found out within twice
  /// ``NATSOptions/probeInterval``; that holds for those that ask with this library. What runs when
  /// the token ends goes on and is answered, unless the connection is closed.
  ///
  /// A failure is sent as ``NATSError/refused(code:message:)``: one that is such an error with its
  /// own code, any other with 500 and the text that it is described with.
  ///
  /// - Parameters:
  ///   - subject: It may have wildcards.
  ///   - queue: The group that shares the requests: each goes to one of them. Without a group all
  ///     are asked, and the first answer counts.
  ///   - answer: Called on a thread of libnats for each request; what it returns is subscribed to.
  public func reply<Request: Codable & Sendable, Answer: Codable & Sendable, Failure: Error>(
    on subject: String, queue: String? = nil,
    _ answer: @escaping @Sendable (Request) -> PublishedTask<Answer, Failure>
  ) -> Subscription {
    link.serve(on: subject, queue: queue) { (request: Request, asked) in
      answer(request).subscribe { result in
        asked.finish(result)
      } onEnd: {
        asked.end()
      }
    }
  }

  /// Answers requests on a subject with progress before the result, until the token ends.
  ///
  /// Those that ask without progress get the result only. Otherwise it is like the `reply` without
  /// progress.
  public func reply<
    Request: Codable & Sendable, Progress: Codable & Sendable, Answer: Codable & Sendable,
    Failure: Error
  >(
    on subject: String, queue: String? = nil, progress: Progress.Type,
    _ answer: @escaping @Sendable (Request) -> ProgressiveTask<Progress, Answer, Failure>
  ) -> Subscription {
    link.serve(on: subject, queue: queue) { (request: Request, asked) in
      answer(request).subscribe { update in
        switch update {
        case .progress(let progress): asked.report(progress)
        case .finished(let result): asked.finish(result)
        }
      } onEnd: {
        asked.end()
      }
    }
  }
}
