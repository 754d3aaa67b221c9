#if NATS
/// The headers of a received message, as the NATS specification ADR-4 describes them.
///
/// libnats 3.4 reads the line after an empty value as the value, and drops all headers if no line
/// follows. So the bridge parses the bytes.
struct HeaderBlock {
  private(set) var status: String?
  private(set) var description: String?
  private(set) var fields: [NATSHeaders.Field] = []
  /// The problem of the first line that is not a header.
  ///
  /// Parsing continues with the next line.
  private(set) var problem: String?

  private static let version = "NATS/1.0"

  init(_ bytes: UnsafeRawBufferPointer) {
    if bytes.isEmpty { return }
    var rest = bytes[...]
    var isFirst = true
    while let end = rest.firstIndex(of: 0x0A) {
      var line = rest[..<end]
      rest = rest[(end + 1)...]
      if line.last == 0x0D { line.removeLast() }
      if line.isEmpty, !isFirst {
        if !rest.isEmpty { complain("Bytes follow the end of the headers.") }
        return
      }
      if isFirst { takeVersion(line) } else { take(line) }
      isFirst = false
    }
    complain("The headers have no end.")
    if !rest.isEmpty { isFirst ? takeVersion(rest) : take(rest) }
  }

  private mutating func complain(_ problem: String) {
    if self.problem == nil { self.problem = problem }
  }

  private mutating func takeVersion(_ line: Slice<UnsafeRawBufferPointer>) {
    guard line.starts(with: Self.version.utf8) else {
      return complain("The headers do not start with \(Self.version).")
    }
    let rest = trimmed(line.dropFirst(Self.version.utf8.count))
    if rest.isEmpty { return }
    status = text(rest.prefix(3))
    let words = trimmed(rest.dropFirst(3))
    if !words.isEmpty { description = text(words) }
  }

  private mutating func take(_ line: Slice<UnsafeRawBufferPointer>) {
    if let first = line.first, isSpace(first), !fields.isEmpty {
      // A line that begins with a space continues the value before it.
      let more = text(trimmed(line))
      let value = fields[fields.count - 1].value
      fields[fields.count - 1].value =
        value.isEmpty || more.isEmpty ? value + more : "\(value) \(more)"
      return
    }
    guard let colon = line.firstIndex(of: 0x3A) else {
      return complain("A line of the headers has no colon.")
    }
    let name = line[..<colon]
    guard !name.isEmpty, name.allSatisfy(ProtocolText.isNameByte) else {
      return complain("The name of a header is empty or has an invalid character.")
    }
    fields.append(
      NATSHeaders.Field(name: text(name), value: text(trimmed(line[(colon + 1)...]))))
  }

  private mutating func text(_ bytes: Slice<UnsafeRawBufferPointer>) -> String {
    if let text = String(validating: bytes, as: UTF8.self) { return text }
    complain("A header is not UTF-8.")
    return String(decoding: bytes, as: UTF8.self)
  }

  private func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

  private func trimmed(_ bytes: Slice<UnsafeRawBufferPointer>) -> Slice<UnsafeRawBufferPointer> {
    var bytes = bytes
    while let first = bytes.first, isSpace(first) { bytes.removeFirst() }
    while let last = bytes.last, isSpace(last) { bytes.removeLast() }
    return bytes
  }
}

extension HeaderBlock {
  /// All headers.
  ///
  /// A status of the server is the header `Status`, its text the header `Description`.
  var headers: NATSHeaders {
    var headers = NATSHeaders(fields)
    if let status { headers["Status"] = status }
    if let description { headers["Description"] = description }
    return headers
  }
}
#endif
