#if NATS
internal import Dispatch
internal import MiniRex

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension ConnectionCore {
  /// Appends to a stream, and waits for a leader if the stream has none.
  ///
  /// Without a leader no server received the message, so sending it again cannot append it twice.
  ///
  /// - Parameters:
  ///   - prefix: The characters before the subject, for a bucket in another domain.
  ///   - atOnce: `false` to let the event loop write this message together with others.
  func append(
    _ data: Data, to stream: StreamID, on subject: String, prefix: String = "",
    headers: NATSHeaders, timeout: Duration = .seconds(5), atOnce: Bool = true
  ) -> PublishedTask<UInt64, NATSError> {
    // The context of the caller, not of the first subscriber.
    let headers = propagating(headers)
    return PublishedTask { [self] finish in
      appendOnce(
        data, to: stream, on: subject, prefix: prefix, headers: headers, timeout: timeout,
        atOnce: atOnce
      ) { finish($0) }
    }
  }

  /// Appends without the cost of a task.
  ///
  /// - Parameters:
  ///   - hasTimer: `false` if the caller cancels the append after the timeout.
  ///   - finish: Called with the sequence. A concurrent timeout may call it once more.
  func appendOnce(
    _ data: Data, to stream: StreamID, on subject: String, prefix: String = "",
    headers: NATSHeaders, timeout: Duration, hasTimer: Bool = true, atOnce: Bool,
    _ finish: @escaping @Sendable (Result<UInt64, NATSError>) -> Void
  ) -> Subscription {
    let deadline = ContinuousClock.now.advanced(by: min(timeout, .seconds(86_400 * 365)))
    let waiting = SubscriptionBag()
    let asking = askOnce(
      JetStream.Appended.self, stream, on: prefix + subject, data, headers: headers,
      timeout: hasTimer ? ContinuousClock.now.duration(to: deadline) : nil, atOnce: atOnce
    ) { [self] result in
      switch result {
      // The header `Nats-Expected-Stream` would check the stream before the append, but it stops the
      // mirrors of server 2.9.
      case .success(let appended) where appended.stream == stream.name:
        finish(.success(appended.seq))
      case .success: finish(.failure(.invalidSubject(subject)))
      case .failure(.noResponders):
        let rest = waitForLeader(of: stream, taking: subject, until: deadline)
        rest.flatMap {
          PublishedTask<UInt64, NATSError> { finish in
            self.appendOnce(
              data, to: stream, on: subject, prefix: prefix, headers: headers,
              timeout: max(.zero, ContinuousClock.now.duration(to: deadline)), atOnce: atOnce
            ) { finish($0) }
          }
        }.subscribe(finish).store(in: waiting)
      case .failure(let error): finish(.failure(error))
      }
    }
    return Subscription {
      asking.invalidate()
      waiting.invalidate()
    }
  }

  /// Succeeds when an append can be sent again, and fails if that cannot help.
  private func waitForLeader(
    of stream: StreamID, taking subject: String, until deadline: ContinuousClock.Instant
  ) -> PublishedTask<Void, NATSError> {
    let rest = ContinuousClock.now.duration(to: deadline)
    if rest < .milliseconds(300) { return .failure(.noResponders) }
    return streamInfo(stream, timeout: min(rest, .seconds(1))).flatMap { info in
      info.config.takes(subject)
        ? PublishedTask<Void, NATSError>.success(()) : .failure(.invalidSubject(subject))
    }.recover { error in
      switch error {
      case .jetStream, .timedOut: .success(())
      default: .failure(error)
      }
    }.flatMap { pause(for: .milliseconds(250)) }
  }
}

private func pause(for duration: Duration) -> PublishedTask<Void, NATSError> {
  PublishedTask { finish in
    DispatchQueue.global().asyncAfter(
      deadline: .now() + .milliseconds(Int(duration.inMilliseconds))
    ) { finish(.success(())) }
    return .ended
  }
}
#endif
