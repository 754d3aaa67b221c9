#if NATS
public import MiniRex

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension NATSStream {
  /// Emits the messages of the stream in order, each once.
  ///
  /// After a lost connection or a restart of the server, it continues behind the last delivered
  /// message. Without a subject filter, ``NATSStreamMessage/missing`` is the range of sequences that
  /// the stream has lost before a message. A stream that was removed and created again is read from
  /// its beginning, and ``NATSDiagnostic/replaced(stream:)`` reports it.
  ///
  /// All subscribers of one broadcaster share one consumer, which starts with the first subscriber.
  /// A late subscriber receives the messages from then on. A slow subscriber drops nothing: the
  /// server waits for free space in its queue. With `suspending(_:)`, the server sends at most the
  /// limit of the slowest subscriber ahead.
  ///
  /// - Parameters:
  ///   - type: The type of the payloads. A payload that cannot be decoded is skipped and reported
  ///     on ``NATSConnection/diagnostics``.
  ///   - position: The first message to read.
  ///   - subject: One or several of the stream's subjects, with wildcards, or `nil`, the default,
  ///     for all.
  ///   - fileID: The file of the call, for an instrument.
  ///   - line: The line of the call, for an instrument.
  public func broadcaster<Payload: Codable & Sendable>(
    of type: Payload.Type = Payload.self, from position: NATSStreamPosition,
    on subject: String? = nil,
    fileID: String = #fileID, line: Int = #line
  ) -> Broadcaster<NATSStreamMessage<Payload>> {
    broadcaster(of: type, from: position, on: subject, fileID: fileID, line: line) {}
  }

  /// - Parameter isReplaced: A closure that runs before the first message of a stream that was
  ///   removed and created again, or that returned to an earlier state.
  package func broadcaster<Payload: Codable & Sendable>(
    of type: Payload.Type = Payload.self, from position: NATSStreamPosition,
    on subject: String? = nil,
    fileID: String = #fileID, line: Int = #line, isReplaced: @escaping @Sendable () -> Void
  ) -> Broadcaster<NATSStreamMessage<Payload>> {
    let core = core
    let order = ConsumerConfig(stream: id, filter: subject, start: position.start)
    let readsAll = subject == nil
    return Broadcaster { [name] receive in
      if let diagnostic = NATSDiagnostic(stream: name, filter: subject) {
        core.report(diagnostic)
        return .ended
      }
      let calls = OrderedConsumer.Calls(
        receive: { message, place, last in
          do throws(NATSError) {
            let missing =
              readsAll
              ? last.flatMap { $0 + 1 < place.sequence ? $0 + 1..<place.sequence : nil } : nil
            let received = NATSStreamMessage(
              payload: try Codec<Payload>.decode(message.bytes), subject: message.subject,
              headers: message.headers(over: core), sequence: place.sequence, date: place.date,
              pending: place.pending, missing: missing)
            core.inContext(of: message) { receive(received) }
          } catch {
            core.report(.undecodable(subject: message.subject, reason: "\(error)"))
          }
        },
        begins: { beginning, _ in
          switch beginning {
          case .replaced, .rolledBack: isReplaced()
          case .first, .again: break
          }
        })
      return OrderedConsumer(order, over: core, calls).start()
    }.share().trace("\(name): \(subject ?? ">")", fileID: fileID, line: line)
  }
}

extension NATSStreamPosition {
  fileprivate var start: ConsumerConfig.Start {
    switch self {
    case .beginning: .beginning
    case .sequence(let sequence): .sequence(sequence)
    case .date(let date): .time(ISO8601.text(of: date) ?? "0001-01-01T00:00:00Z")
    case .last: .last
    case .new: .new
    }
  }
}

extension NATSDiagnostic {
  /// Returns `nil` if the names are valid.
  init?(stream: String, durable: String? = nil, filter: String?) {
    if !Subject.isName(stream) {
      self = .notRead(stream: stream, .invalidSubject(stream))
    } else if let durable, !Subject.isName(durable) {
      self = .notRead(stream: stream, .invalidSubject(durable))
    } else if let filter {
      do throws(NATSError) {
        try Subject.checkToSubscribe(filter, queue: nil)
        return nil
      } catch {
        self = .notSubscribed(subject: filter, error)
      }
    } else {
      return nil
    }
  }
}

extension MessageMetadata {
  var date: Date { Date(timeIntervalSince1970: Double(nanoseconds) / 1_000_000_000) }
}
#endif
