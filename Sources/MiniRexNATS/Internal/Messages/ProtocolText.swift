#if NATS
/// Checks and encodes the strings of a connection before they become commands.
///
/// A command is a line whose parts are separated by spaces. A string with a space or a line break
/// would form another command, and a server closes the connection after an unknown command.
enum ProtocolText {
  /// The size of the spaces, the numbers, and the line break of a command.
  private static let overhead = 64

  static func check(_ message: OutgoingMessage, lineLimit: Int) throws(NATSError) {
    try Subject.checkToPublish(message.subject)
    var length = message.subject.utf8.count + overhead
    if let replySubject = message.replySubject {
      try Subject.checkToPublish(replySubject)
      length += replySubject.utf8.count
    }
    if length > lineLimit { throw .subjectTooLong(length - overhead) }
    for field in message.headers.fields { try check(field) }
  }

  static func checkSubscription(
    to subject: String, queue: String?, lineLimit: Int
  ) throws(NATSError) {
    try Subject.checkToSubscribe(subject, queue: queue)
    let length = subject.utf8.count + (queue?.utf8.count ?? 0)
    if length + overhead > lineLimit { throw .subjectTooLong(length) }
  }

  /// Throws if a header is invalid.
  ///
  /// An empty value is refused: clients with libnats read the next line as the value.
  private static func check(_ field: NATSHeaders.Field) throws(NATSError) {
    let nameIsFine = !field.name.isEmpty && field.name.utf8.allSatisfy(isNameByte)
    let valueIsFine =
      field.value.utf8.contains { $0 > 0x20 }
      && field.value.utf8.allSatisfy { $0 != 0x0D && $0 != 0x0A && $0 != 0 }
    if !nameIsFine || !valueIsFine { throw .invalidHeader(field.name) }
  }

  /// Returns `true` for the bytes of a header name: printable ASCII without the colon.
  static func isNameByte(_ byte: UInt8) -> Bool { 0x21...0x7E ~= byte && byte != 0x3A }

  /// Escapes text for a JSON string, because libnats copies names and passwords unchanged.
  ///
  /// - Parameter what: The name of the value in an error. The value may be secret.
  static func json(_ text: String, _ what: String, lineLimit: Int) throws(NATSError) -> String {
    var json: [UInt8] = []
    for byte in text.utf8 {
      switch byte {
      case 0x22, 0x5C: json += [0x5C, byte]
      case ..<0x20: json += "\\u00\(byte < 16 ? "0" : "")\(String(byte, radix: 16))".utf8
      default: json.append(byte)
      }
    }
    // The rest of the line takes about 300 bytes, with the name and the version of the library.
    if json.count + 512 > lineLimit { throw .invalidOptions("\(what) does not fit into one line.") }
    return String(decoding: json, as: UTF8.self)
  }
}
#endif
