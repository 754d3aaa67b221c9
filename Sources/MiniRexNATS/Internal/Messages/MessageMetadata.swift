#if NATS
internal import CNATS

/// The position of a message in its stream and in the deliveries of its consumer.
///
/// The reply subject contains it:
/// `$JS.ACK.STREAM.CONSUMER.DELIVERIES.SEQUENCE.DELIVERED.TIME.PENDING`. With a domain, two further
/// parts precede the stream, and one further part is at the end.
struct MessageMetadata: Sendable {
  var deliveries: UInt64 = 0
  var sequence: UInt64 = 0
  var delivered: UInt64 = 0
  var nanoseconds: UInt64 = 0
  var pending: UInt64 = 0

  /// Returns `nil` if the message does not come from a stream.
  init?(_ message: RawMessage) {
    guard let reply = natsMsg_GetReply(message.pointer) else { return nil }
    self.init(reply: reply)
  }

  /// - Parameter start: The reply subject, which ends with a zero.
  init?(reply start: UnsafePointer<CChar>) {
    var dots = 0
    var letter = start
    while letter.pointee != 0 {
      if letter.pointee == 0x2E { dots += 1 }
      letter += 1
    }
    let first: Int
    switch dots {
    case 8: first = 4
    case 10...: first = 6
    default: return nil
    }
    for (place, expected) in "$JS.ACK.".utf8.enumerated()
    where UInt8(bitPattern: start[place]) != expected { return nil }
    var part = 0
    letter = start
    while letter.pointee != 0 {
      let byte = UInt8(bitPattern: letter.pointee)
      letter += 1
      if byte == 0x2E {
        part += 1
      } else if part >= first, part < first + 5 {
        guard 0x30...0x39 ~= byte else { return nil }
        add(UInt64(byte - 0x30), to: part - first)
      }
    }
  }

  private mutating func add(_ digit: UInt64, to part: Int) {
    switch part {
    case 0: deliveries = deliveries &* 10 &+ digit
    case 1: sequence = sequence &* 10 &+ digit
    case 2: delivered = delivered &* 10 &+ digit
    case 3: nanoseconds = nanoseconds &* 10 &+ digit
    default: pending = pending &* 10 &+ digit
    }
  }
}

extension UInt64 {
  /// The sequence after this one.
  ///
  /// A server may send any number, and nothing is after the last one.
  var next: UInt64 { self == .max ? self : self + 1 }
}
#endif
