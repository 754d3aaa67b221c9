public import MiniRex

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

extension NATSConnection {
  /// Sends a message to all who are subscribed to the subject at that time.
  ///
  /// It returns at once: the message is on its way, or waits for the connection. It is sent at most
  /// once, and what was on its way when the connection is lost may be lost with it.
  ///
  /// - Parameters:
  ///   - payload: `Data` and `String` are sent as they are, a ``NATSPayload`` as it says, everything
  ///     else as JSON.
  ///   - subject: Parts with dots between them, without spaces and wildcards.
  ///   - headers: What goes with it.
  ///   - replySubject: Where an answer is waited for.
  @specialized(where Payload == Data)
  @specialized(where Payload == String)
  public func publish<Payload: Codable & Sendable>(
    _ payload: Payload, on subject: String, headers: NATSHeaders = [:],
    replySubject: String? = nil
  ) throws(NATSError) {
    try Codec.encode(payload) { bytes throws(NATSError) in
      try link.publish(
        Outgoing(subject: subject, replySubject: replySubject, headers: headers, bytes: bytes))
    }
  }
}

extension Publisher where Kind: StreamKind, Update: Codable {
  /// Sends each update as a message, until the token ends.
  ///
  /// What cannot be sent is told on ``NATSConnection/troubles``. It does not keep the connection.
  public func publish(
    to connection: NATSConnection, on subject: String, fileID: String = #fileID, line: Int = #line
  ) -> Subscription {
    let link = connection.link
    return subscribe(
      { update in
        do throws(NATSError) {
          try Codec.encode(update) { bytes throws(NATSError) in
            try link.publish(Outgoing(subject: subject, headers: [:], bytes: bytes))
          }
        } catch {
          link.tell(.notSent(subject: subject, error))
        }
      }, fileID: fileID, line: line)
  }
}
