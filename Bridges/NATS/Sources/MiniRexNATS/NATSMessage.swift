/// What has come on a subject.
public struct NATSMessage<Payload: Sendable>: Sendable {
  /// What was published.
  public var payload: Payload
  /// The subject that it was published on.
  public var subject: String
  /// What came with it.
  public var headers: NATSHeaders
  /// Where an answer is waited for; `nil` if none is.
  public var replySubject: String?

  /// Makes one, as a test of your own might.
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
