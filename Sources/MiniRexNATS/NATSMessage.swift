#if NATS
/// A message received on a subject.
public struct NATSMessage<Payload: Sendable>: Sendable {
  /// The published payload.
  public var payload: Payload
  /// The subject of the message.
  public var subject: String
  /// The headers of the message.
  public var headers: NATSHeaders
  /// The subject for a reply, or `nil` if the publisher expects none.
  public var replySubject: String?

  /// Creates a message, for example for a test.
  public init(
    payload: Payload, subject: String, headers: NATSHeaders = [:], replySubject: String? = nil
  ) {
    self.payload = payload
    self.subject = subject
    self.headers = headers
    self.replySubject = replySubject
  }
}

extension NATSMessage: Equatable where Payload: Equatable {}

extension NATSMessage: Hashable where Payload: Hashable {}
#endif
