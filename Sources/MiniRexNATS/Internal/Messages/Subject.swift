#if NATS
/// The validation of subjects.
///
/// A server closes the connection after an invalid subject.
enum Subject {
  static func checkToPublish(_ subject: String) throws(NATSError) {
    if !isValid(subject, allowsWildcards: false) { throw .invalidSubject(subject) }
  }

  static func checkToSubscribe(_ subject: String, queue: String?) throws(NATSError) {
    if !isValid(subject, allowsWildcards: true) { throw .invalidSubject(subject) }
    if let queue, !isValid(queue, allowsWildcards: false) { throw .invalidSubject(queue) }
  }

  /// Returns a Boolean value that indicates whether a stream, a consumer, or a domain can have the name.
  ///
  /// A name is one part of the subjects of JetStream, and a part of a path on the server.
  static func isName(_ name: String) -> Bool {
    (1...255).contains(name.utf8.count)
      && name.utf8.allSatisfy { byte in
        switch byte {
        case 0...0x20, 0x7F: false
        case UInt8(ascii: "."), UInt8(ascii: "*"), UInt8(ascii: ">"): false
        case UInt8(ascii: "/"), UInt8(ascii: "\\"): false
        default: true
        }
      }
  }

  /// Returns a Boolean value that indicates whether a subscription to the pattern receives the subject.
  static func matches(_ pattern: String, _ subject: String) -> Bool {
    var rest = subject.split(separator: ".", omittingEmptySubsequences: false)[...]
    for part in pattern.split(separator: ".", omittingEmptySubsequences: false) {
      if part == ">" { return !rest.isEmpty }
      guard let first = rest.popFirst(), part == "*" || part == first else { return false }
    }
    return rest.isEmpty
  }

  private static func isValid(_ subject: String, allowsWildcards: Bool) -> Bool {
    subject.utf8.withContiguousStorageIfAvailable {
      isValid($0, allowsWildcards: allowsWildcards)
    } ?? isValid(subject.utf8, allowsWildcards: allowsWildcards)
  }

  private static func isValid(
    _ subject: some Sequence<UInt8>, allowsWildcards: Bool
  ) -> Bool {
    var length = 0
    var wildcard: UInt8?
    var isOver = false
    for byte in subject {
      if byte <= 0x20 || byte == 0x7F || isOver { return false }
      if byte == UInt8(ascii: ".") {
        if length == 0 || !endPart(length, wildcard, allowsWildcards) { return false }
        if wildcard == UInt8(ascii: ">"), length == 1 { isOver = true }
        (length, wildcard) = (0, nil)
      } else {
        if byte == UInt8(ascii: "*") || byte == UInt8(ascii: ">") { wildcard = byte }
        length += 1
      }
    }
    return length > 0 && !isOver && endPart(length, wildcard, allowsWildcards)
  }

  /// Returns `true` if a part is valid.
  ///
  /// A wildcard is an entire part. Inside a longer part it is an ordinary character.
  private static func endPart(_ length: Int, _ wildcard: UInt8?, _ allowsWildcards: Bool) -> Bool {
    wildcard == nil || length > 1 || allowsWildcards
  }
}
#endif
