#if NATS
public import MiniRex

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension NATSConnection {
  /// Emits the messages of a subject, from every process.
  ///
  /// ```swift
  /// let orders = nats.broadcaster(of: Order.self, on: "orders.*", queue: "billing")
  /// ```
  ///
  /// A message is delivered at most once. The broadcaster finishes when the connection is closed,
  /// after it has delivered the received messages.
  ///
  /// All subscribers of one broadcaster share one subscription at the server, from the first
  /// subscriber to the last. Callbacks run on a thread of libnats. ``NATSOptions/receiveLimit``
  /// bounds the messages that are queued for them.
  ///
  /// - Parameters:
  ///   - type: The type of the payloads. A payload that cannot be decoded is skipped and reported
  ///     on ``diagnostics``.
  ///   - subject: A subject, in which `*` matches one part and `>` all further parts. An invalid
  ///     subject is reported on ``diagnostics``, and the subscription has ended when `subscribe`
  ///     returns.
  ///   - queue: The queue group that shares the messages: each goes to one subscription of the
  ///     group. The default is `nil`, for every message.
  ///   - fileID: The file of the call, for an instrument.
  ///   - line: The line of the call, for an instrument.
  @specialized(where Payload == Data)
  @specialized(where Payload == String)
  public func broadcaster<Payload: Codable & Sendable>(
    of type: Payload.Type = Payload.self, on subject: String, queue: String? = nil,
    fileID: String = #fileID, line: Int = #line
  ) -> Broadcaster<NATSMessage<Payload>> {
    let core = core
    return .shared { receive in
      core.subscribe(to: subject, queue: queue) { message in
        do throws(NATSError) {
          let headers = message.headers(over: core)
          let received = NATSMessage(
            payload: try Codec<Payload>.decode(message.bytes), subject: message.subject,
            headers: headers, replySubject: message.replySubject)
          core.inContext(of: message) { receive(received) }
        } catch {
          core.report(.undecodable(subject: message.subject, reason: "\(error)"))
        }
      }
    }.trace(subject, fileID: fileID, line: line)
  }
}
#endif
