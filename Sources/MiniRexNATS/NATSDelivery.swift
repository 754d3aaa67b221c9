#if NATS
/// A message of a work queue, with methods to acknowledge it.
///
/// The first acknowledgment counts.
public struct NATSDelivery<Payload: Sendable>: Sendable {
  /// The appended payload.
  public let payload: Payload
  /// The subject of the message.
  public let subject: String
  /// The headers of the message.
  public let headers: NATSHeaders
  /// The sequence of the message in the stream.
  public let sequence: UInt64
  /// The number of deliveries of this message, including this one.
  public let count: Int
  /// The number of messages that have not been delivered yet.
  public let pending: UInt64

  let answer: Acknowledgement

  /// Acknowledges the message.
  ///
  /// The server does not deliver it again, unless the acknowledgment is lost with the connection.
  public func ack() { answer.send("+ACK") }

  /// Requests another delivery of the message, immediately or after a delay.
  public func retry(after delay: Duration = .zero) {
    let nanoseconds = max(0, delay.inNanoseconds)
    answer.send(nanoseconds == 0 ? "-NAK" : #"-NAK {"delay":\#(nanoseconds)}"#)
  }

  /// Rejects the message: the server does not deliver it again, although it is not processed.
  public func reject() { answer.send("+TERM") }

  /// Restarts the time after which the server delivers the message again.
  public func extend() { answer.extend() }
}
#endif
