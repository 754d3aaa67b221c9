#if NATS
public import MiniRex

extension NATSConnection {
  /// Answers the requests on a subject, until the subscription is canceled.
  ///
  /// ```swift
  /// let service = nats.reply(on: "quotes", queue: "quotes") { (request: QuoteRequest) in
  ///   PublishedTask { try await quote(request) }
  /// }
  /// ```
  ///
  /// Each request runs as a task. Up to ``NATSOptions/requestLimit`` of them run concurrently.
  /// Further requests are queued, and beyond the limits of the queue refused with the code 503.
  /// Requests that are running when the subscription is canceled continue and are answered, unless
  /// the connection is closed.
  ///
  /// A task is canceled when its requester cancels the request. If the requester's process stops,
  /// the task is canceled within twice ``NATSOptions/probeInterval``. Both require that the
  /// requester uses this library.
  ///
  /// A failure is sent as ``NATSError/refused(code:message:)``. If the task fails with that error,
  /// its code and message are sent. Any other error has the code 500 and its description as the
  /// message.
  ///
  /// - Parameters:
  ///   - subject: A subject, which may have wildcards.
  ///   - queue: The queue group that shares the requests: each goes to one member. Without a group,
  ///     every subscription answers, and the first answer counts.
  ///   - answer: A closure that creates the task for a request. It runs on a thread of libnats.
  public func reply<Request: Codable & Sendable, Answer: Codable & Sendable, Failure: Error>(
    on subject: String, queue: String? = nil,
    _ answer: @escaping @Sendable (Request) -> PublishedTask<Answer, Failure>
  ) -> Subscription {
    core.serve(on: subject, queue: queue) { (request: Request, asked) in
      answer(request).subscribe { result in
        asked.finish(result)
      } onEnd: {
        asked.end()
      }
    }
  }

  /// Answers the requests on a subject with progress and a result, until the subscription is
  /// canceled.
  ///
  /// A request without progress receives the result only. See the overload without progress for
  /// concurrency, cancellation, and failures.
  public func reply<
    Request: Codable & Sendable, Progress: Codable & Sendable, Answer: Codable & Sendable,
    Failure: Error
  >(
    on subject: String, queue: String? = nil, progress: Progress.Type,
    _ answer: @escaping @Sendable (Request) -> ProgressiveTask<Progress, Answer, Failure>
  ) -> Subscription {
    core.serve(on: subject, queue: queue) { (request: Request, asked) in
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
#endif
