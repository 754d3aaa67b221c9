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
  /// - Parameter prefix: The characters before the subject, for a bucket in another domain.
  func append(
    _ data: Data, to stream: StreamID, on subject: String, prefix: String = "",
    headers: NATSHeaders, timeout: Duration = .seconds(5)
  ) -> PublishedTask<UInt64, NATSError> {
    // The context of the caller, not of the first subscriber.
    let headers = propagating(headers)
    return PublishedTask { [self] finish in
      // The time starts with the first subscriber.
      let deadline = ContinuousClock.now.advanced(by: min(timeout, .seconds(86_400 * 365)))
      return attempt(data, stream, subject, prefix, headers, deadline).subscribe { finish($0) }
    }
  }

  private func attempt(
    _ data: Data, _ stream: StreamID, _ subject: String, _ prefix: String, _ headers: NATSHeaders,
    _ deadline: ContinuousClock.Instant
  ) -> PublishedTask<UInt64, NATSError> {
    ask(
      JetStream.Appended.self, stream, on: prefix + subject, data, headers: headers,
      timeout: max(.zero, ContinuousClock.now.duration(to: deadline))
    ).flatMap { appended in
      // The header `Nats-Expected-Stream` would check it before, and stops the mirrors of server 2.9.
      appended.stream == stream.name
        ? PublishedTask<UInt64, NATSError>.success(appended.seq)
        : .failure(.invalidSubject(subject))
    }.recover { [self] error in
      guard error == .noResponders else { return .failure(error) }
      return waitForLeader(of: stream, taking: subject, until: deadline).flatMap { [self] in
        attempt(data, stream, subject, prefix, headers, deadline)
      }
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
