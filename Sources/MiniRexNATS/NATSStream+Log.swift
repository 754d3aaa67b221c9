#if NATS
package import MiniRex

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// A stored message, with the place and the time that the server assigned to it.
package struct NATSLogMessage: Hashable, Sendable {
  package let sequence: UInt64
  /// Nanoseconds since 1970.
  package let time: Int64
  package let headers: NATSHeaders
  package let payload: Data
}

/// The sequences of a stream, and one of its messages.
package struct NATSLogState: Hashable, Sendable {
  package let first: UInt64
  package let last: UInt64
  /// The latest known time of the server, in nanoseconds since 1970, or 0 if none is known.
  ///
  /// It is the time of the last message, unless the server has reported a later one.
  package let lastTime: Int64
  /// `nil` if the stream does not have the message.
  package let message: NATSLogMessage?
}

/// An event of a stream that is read from a known message.
package enum NATSLogEvent: Sendable {
  case connected(NATSLogState)
  case disconnected
  case message(NATSLogMessage)
  /// The messages that the stream had at the beginning of the connection were emitted.
  case current
  /// The stream may lose messages, or has other subjects than its name.
  case unsuitable(String)
}

extension NATSStream {
  /// Emits the messages after a sequence in order, and begins each connection with the state of the stream.
  ///
  /// ``NATSLogState/message`` is the message after which the reading continues.
  package func log(after sequence: UInt64) -> Broadcaster<NATSLogEvent> {
    Broadcaster { receive in LogReader(self, after: sequence, receive).start() }
  }

  /// Reads the sequences of the stream, and the message with a sequence.
  package func logState(at sequence: UInt64) -> PublishedTask<NATSLogState, NATSError> {
    examine(at: sequence).map(\.state)
  }

  func examine(
    at sequence: UInt64, timeout: Duration = .seconds(5)
  ) -> PublishedTask<(state: NATSLogState, unsuitable: String?), NATSError> {
    core.streamInfo(id, timeout: timeout).flatMap { stream in
      // An outdated leader may lack the newest messages.
      if stream.state.lastSeq < sequence, stream.cluster?.mayBeOutdated == true {
        return .failure(.noResponders)
      }
      let (first, last) = (stream.state.firstSeq, stream.state.lastSeq)
      let lastTime = stream.time
      let unsuitable = stream.config.unsuitable(for: name)
      // An outdated leader may have options that an operator has repaired since. A reader would stop.
      if unsuitable != nil, stream.cluster?.mayBeOutdated == true {
        return .failure(.noResponders)
      }
      if sequence < max(1, first) || sequence > last {
        return .success(
          (NATSLogState(first: first, last: last, lastTime: lastTime, message: nil), unsuitable))
      }
      return core.stored(.sequence(sequence), in: id, timeout: timeout).map {
        (
          NATSLogState(first: first, last: last, lastTime: lastTime, message: NATSLogMessage($0)),
          unsuitable
        )
      }.recover { error in
        // The message was removed concurrently, or an operator deleted it.
        error.isMissingMessage
          ? .success(
            (NATSLogState(first: first, last: last, lastTime: lastTime, message: nil), unsuitable))
          : .failure(error)
      }
    }
  }
}

extension NATSLogMessage {
  fileprivate init(_ stored: JetStream.Stored.Message) {
    sequence = stored.seq
    time = Timestamp(stored.time)?.nanoseconds ?? 0
    headers = (stored.hdrs ?? Data()).withUnsafeBytes { HeaderBlock($0).headers }
    payload = stored.data ?? Data()
  }

  init(_ message: RawMessage, _ place: MessageMetadata, over core: ConnectionCore) {
    (sequence, time) = (place.sequence, Int64(clamping: place.nanoseconds))
    headers = message.headers(over: core)
    payload = Data(message.bytes)
  }
}

extension StreamConfig.Existing {
  /// The reason why replicas cannot use the stream, or `nil`.
  fileprivate func unsuitable(for name: String) -> String? {
    if let removal { return removal }
    if subjects == [name] { return nil }
    return "Its subjects are \(subjects ?? []), not only '\(name)'."
  }
}
#endif
