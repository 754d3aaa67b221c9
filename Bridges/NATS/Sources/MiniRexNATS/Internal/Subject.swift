/// What subjects may look like; a server closes the connection of whoever sends it another.
enum Subject {
  static func checkToPublish(_ subject: String) throws(NATSError) {
    if !isValid(subject, allowsWildcards: false) { throw .invalidSubject(subject) }
  }

  static func checkToSubscribe(_ subject: String, queue: String?) throws(NATSError) {
    if !isValid(subject, allowsWildcards: true) { throw .invalidSubject(subject) }
    if let queue, !isValid(queue, allowsWildcards: false) { throw .invalidSubject(queue) }
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

  /// A wildcard is one only if it is a part by itself; inside of others it is a letter.
  private static func endPart(_ length: Int, _ wildcard: UInt8?, _ allowsWildcards: Bool) -> Bool {
    wildcard == nil || length > 1 || allowsWildcards
  }
}
