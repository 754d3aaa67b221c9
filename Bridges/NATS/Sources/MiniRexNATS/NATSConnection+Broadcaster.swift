public import MiniRex

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

extension NATSConnection {
  /// Calls with what is published on a subject, by whatever process.
  ///
  /// ```swift
  /// let orders = nats.broadcaster(of: Order.self, on: "orders.*", queue: "billing")
  /// ```
  ///
  /// All subscribers of one such publisher share one subscription at the server, which is made with
  /// the first and ended with the last. It calls on a thread of libnats; what waits there is
  /// bounded, see ``NATSOptions``. A message is delivered at most once. It ends when the connection
  /// is closed, after what had been received is delivered.
  ///
  /// - Parameters:
  ///   - type: What the payloads are; one that is not is left out and told on ``troubles``.
  ///   - subject: It may have wildcards, `*` for one part and `>` for all that follow. One that is
  ///     not a subject is told on ``troubles``, and whoever subscribes gets an ended token.
  ///   - queue: The group that shares the messages: each goes to one subscription of the group.
  ///   - fileID: Where it is written, for an instrument.
  ///   - line: Where it is written, for an instrument.
  @specialized(where Payload == Data)
  @specialized(where Payload == String)
  public func broadcaster<Payload: Codable & Sendable>(
    of type: Payload.Type = Payload.self, on subject: String, queue: String? = nil,
    fileID: String = #fileID, line: Int = #line
  ) -> Broadcaster<NATSMessage<Payload>> {
    let link = link
    return .shared { receive in
      link.subscribe(to: subject, queue: queue) { message in
        do throws(NATSError) {
          let headers = try message.headers()
          receive(
            NATSMessage(
              payload: try Codec<Payload>.decode(message.bytes), subject: message.subject,
              headers: headers, replySubject: message.replySubject))
        } catch {
          link.tell(.undecodable(subject: message.subject, reason: "\(error)"))
        }
      }
    }.trace(subject, fileID: fileID, line: line)
  }
}
