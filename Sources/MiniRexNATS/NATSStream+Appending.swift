#if NATS
internal import Dispatch
public import MiniRex

extension NATSStream {
  /// Appends messages without waiting for each answer, and returns their sequences.
  ///
  /// The messages are sent in order, and up to `window` of them are in flight. Progress is the number
  /// of appended messages, and may skip numbers. The task starts with the first subscriber, and
  /// canceling it sends no further message.
  ///
  /// The task fails with the first error, and sends no further message then. Messages in flight at that
  /// moment may be in the stream. While the stream has no leader, a message that is sent again may
  /// follow later ones. Append one message at a time if the stream must have exactly this order.
  ///
  /// - Parameters:
  ///   - payloads: The values, encoded as ``NATSConnection/publish(_:on:headers:replySubject:)``
  ///     encodes them. Each is encoded when it is sent.
  ///   - subject: One of the stream's subjects, or `nil`, the default, for the stream's name.
  ///   - headers: The headers of each message. The default is empty.
  ///   - window: The maximum number of messages in flight. The default is 512. Traps if less than 1.
  ///   - timeout: The time after which an append without an answer fails with
  ///     ``NATSError/timedOut``.
  public func append<Payload: Codable & Sendable>(
    contentsOf payloads: [Payload], on subject: String? = nil, headers: NATSHeaders = [:],
    window: Int = 512, timeout: Duration = .seconds(5)
  ) -> ProgressiveTask<Int, [UInt64], NATSError> {
    if window < 1 { misuse("'append' requires a window of 1 or more, not \(window).") }
    let headers = core.propagating(headers)
    return ProgressiveTask { report, finish in
      let appends = PipelinedAppends(
        count: payloads.count, window: window, timeout: timeout, report: report, finish: finish
      ) { index, finish in
        do throws(NATSError) {
          // The event loop writes it together with others.
          return core.appendOnce(
            try Codec.data(of: payloads[index]), to: id, on: subject ?? name, headers: headers,
            timeout: timeout, hasTimer: false, atOnce: false, finish)
        } catch {
          finish(.failure(error))
          return .ended
        }
      }
      appends.start()
      return Subscription { appends.cancel() }
    }
  }
}

extension NATSStream {
  /// Appends a message that the event loop writes together with others.
  fileprivate func appendInFlight<Payload: Codable & Sendable>(
    _ payload: Payload, on subject: String?, _ timeout: Duration
  ) -> PublishedTask<UInt64, NATSError> {
    do throws(NATSError) {
      return core.append(
        try Codec.data(of: payload), to: id, on: subject ?? name, headers: [:],
        timeout: timeout, atOnce: false)
    } catch {
      return .failure(error)
    }
  }
}

extension Publisher where Kind == BroadcasterKind, Update: Codable {
  /// Appends each update to a stream without waiting for each answer, until the subscription is canceled.
  ///
  /// ```swift
  /// let appending = readings.publisher.append(to: nats.stream("readings"))
  /// try await readings.send(reading)  // suspends while 4,096 readings are in flight
  /// ```
  ///
  /// Up to `window` messages are in flight, in order. The next update is queued, and suspends the source
  /// until a message is answered. `broadcast` does not suspend, so its updates are queued without a limit.
  /// Each message that is refused is reported as ``NATSDiagnostic/notSent(subject:_:)``, and the next
  /// messages are sent. See ``NATSStream/append(contentsOf:on:headers:window:timeout:)`` for the order while
  /// the stream has no leader. The subscription does not retain the connection. Canceling it drops the
  /// queued updates.
  ///
  /// - Parameters:
  ///   - stream: The stream.
  ///   - subject: One of the stream's subjects, or `nil`, the default, for the stream's name.
  ///   - window: The maximum number of messages in flight. The default is 4,096. Traps if less than 1.
  ///   - timeout: The time after which an append without an answer is reported as
  ///     ``NATSError/timedOut``.
  public func append(
    to stream: NATSStream, on subject: String? = nil, window: Int = 4_096,
    timeout: Duration = .seconds(5)
  ) -> Subscription {
    if window < 1 { misuse("'append' requires a window of 1 or more, not \(window).") }
    let (core, target) = (stream.core, subject ?? stream.name)
    let refusals = flatMap(limit: window) { update in
      stream.appendInFlight(update, on: subject, timeout)
    }.compactMap { result -> NATSError? in
      if case .failure(let error) = result { error } else { nil }
    }
    let queue = DispatchQueue(label: "MiniRexNATS.refusals")
    return Dispatcher(
      { @Sendable (error: NATSError) in core.report(.notSent(subject: target, error)) },
      limit: BufferingPolicy<BroadcasterKind>.suspending(1).limit
    ) { dispatcher, _ in
      queue.async { dispatcher.run { $0($1) } }
    }.subscribe(to: refusals)
  }
}
#endif
