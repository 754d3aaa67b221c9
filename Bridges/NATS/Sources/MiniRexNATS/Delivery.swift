/// A message to be worked on, and the way to say what has become of it.
///
/// The first that is said counts.
public struct Delivery<Payload: Sendable>: Sendable {
  /// What was appended.
  public let payload: Payload
  /// The subject that it was published on.
  public let subject: String
  /// What came with it.
  public let headers: NATSHeaders
  /// Its place in the stream.
  public let sequence: UInt64
  /// How often it has been delivered, this time included.
  public let count: Int
  /// How many are still to be delivered for the first time.
  public let pending: UInt64

  let answer: Acknowledgement

  /// Says that it is done; it does not come again, unless this is lost with the connection.
  public func ack() { answer.send("+ACK") }

  /// Says that it is to come again, at once or later.
  public func retry(after delay: Duration = .zero) {
    let nanoseconds = max(0, delay.inNanoseconds)
    answer.send(nanoseconds == 0 ? "-NAK" : #"-NAK {"delay":\#(nanoseconds)}"#)
  }

  /// Says that it must not come again, although it is not done.
  public func reject() { answer.send("+TERM") }

  /// Says that it is being worked on: the time until it comes again begins anew.
  public func extend() { answer.sayWorking() }
}
