#if NATS
public import MiniRex

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension NATSConnection {
  /// Sends a message to the current subscribers of a subject.
  ///
  /// It returns immediately, and the message is sent at most once. Without a connection, the
  /// message is queued. When the connection is lost, ``NATSDiagnostic/possiblyLost(count:)``
  /// reports the number of messages that the server has not confirmed.
  ///
  /// - Parameters:
  ///   - payload: A value. `Data` and `String` are sent unchanged, a ``NATSPayload`` in its own
  ///     encoding, and everything else as JSON.
  ///   - subject: Parts separated by dots, without spaces and wildcards.
  ///   - headers: The headers of the message. The default is empty.
  ///   - replySubject: The subject for a reply. The default is `nil`.
  @specialized(where Payload == Data)
  @specialized(where Payload == String)
  public func publish<Payload: Codable & Sendable>(
    _ payload: Payload, on subject: String, headers: NATSHeaders = [:],
    replySubject: String? = nil
  ) throws(NATSError) {
    let headers = core.propagating(headers)
    try Codec.encode(payload) { bytes throws(NATSError) in
      try core.publish(
        OutgoingMessage(
          subject: subject, replySubject: replySubject, headers: headers, bytes: bytes,
          isConfirmed: true))
    }
  }
}

extension Publisher where Kind: StreamKind, Update: Codable {
  /// Sends each update as a message, until the subscription is canceled.
  ///
  /// A message that cannot be sent is reported on ``NATSConnection/diagnostics``. The subscription
  /// does not retain the connection.
  public func publish(
    to connection: NATSConnection, on subject: String, fileID: String = #fileID, line: Int = #line
  ) -> Subscription {
    let core = connection.core
    return subscribe(
      { update in
        do throws(NATSError) {
          try Codec.encode(update) { bytes throws(NATSError) in
            try core.publish(
              OutgoingMessage(
                subject: subject, headers: core.propagating([:]), bytes: bytes, isConfirmed: true))
          }
        } catch {
          core.report(.notSent(subject: subject, error))
        }
      }, fileID: fileID, line: line)
  }
}
#endif
