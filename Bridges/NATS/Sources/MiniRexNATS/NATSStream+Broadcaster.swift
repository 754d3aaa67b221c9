public import MiniRex

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

extension NATSStream {
  /// Calls with the messages of the stream, in order, each once.
  ///
  /// That holds through the loss of the connection and a restart of the server: it goes on after the
  /// last message that it has passed on. What the stream itself has lost meanwhile is told by
  /// ``StreamMessage/missing``. A stream that was removed and made anew is read from its beginning, and
  /// told by ``NATSTrouble/replaced(stream:)``. All subscribers of one such publisher share the reading, which begins
  /// with the first of them; whoever comes later gets what comes from then on. A slow subscriber is
  /// waited for: the server sends what it can take.
  ///
  /// - Parameters:
  ///   - type: What the payloads are; one that is not is left out and told on
  ///     ``NATSConnection/troubles``.
  ///   - position: Where it begins.
  ///   - subject: One or several of the stream's subjects, with wildcards; `nil` for all.
  ///   - fileID: Where it is written, for an instrument.
  ///   - line: Where it is written, for an instrument.
  public func broadcaster<Payload: Codable & Sendable>(
    of type: Payload.Type = Payload.self, from position: StreamPosition, on subject: String? = nil,
    fileID: String = #fileID, line: Int = #line
  ) -> Broadcaster<StreamMessage<Payload>> {
    broadcaster(of: type, from: position, on: subject, fileID: fileID, line: line) {}
  }

  /// - Parameter isReplaced: Called before the first message of a stream that was made anew.
  package func broadcaster<Payload: Codable & Sendable>(
    of type: Payload.Type = Payload.self, from position: StreamPosition, on subject: String? = nil,
    fileID: String = #fileID, line: Int = #line, isReplaced: @escaping @Sendable () -> Void
  ) -> Broadcaster<StreamMessage<Payload>> {
    let link = link
    let order = ReadingOrder(stream: name, filter: subject, start: position.start)
    let readsAll = subject == nil
    return Broadcaster { receive in
      StreamReader(order, over: link, isReplaced: isReplaced) { message, place, last in
        do throws(NATSError) {
          let missing =
            readsAll
            ? last.flatMap { $0 + 1 < place.sequence ? $0 + 1..<place.sequence : nil } : nil
          receive(
            StreamMessage(
              payload: try Codec<Payload>.decode(message.bytes), subject: message.subject,
              headers: try message.headers(), sequence: place.sequence, date: place.date,
              pending: place.pending, missing: missing))
        } catch {
          link.tell(.undecodable(subject: message.subject, reason: "\(error)"))
        }
      }.start()
    }.share().trace("\(name): \(subject ?? ">")", fileID: fileID, line: line)
  }
}

extension StreamPosition {
  fileprivate var start: ReadingOrder.Start {
    switch self {
    case .beginning: .beginning
    case .sequence(let sequence): .sequence(sequence)
    case .date(let date):
      .time(date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)))
    case .last: .last
    case .new: .new
    }
  }
}

extension Place {
  var date: Date { Date(timeIntervalSince1970: Double(nanoseconds) / 1_000_000_000) }
}
