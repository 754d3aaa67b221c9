#if NATS
/// Reads JSON text without a tree, and fails on text that is not strict JSON on one line.
///
/// `JSONDecoder` takes 30 µs for a report, and a page of 1,000 members reads 500 of them a second.
struct JSONCursor {
  struct Malformed: Error {}

  private let bytes: [UInt8]
  private var index = 0
  private var depth = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Calls `member` with each key.
  ///
  /// It must read the value.
  mutating func object(
    _ member: (inout JSONCursor, ArraySlice<UInt8>) throws(Malformed) -> Void
  ) throws(Malformed) {
    try list("{", "}") { (cursor) throws(Malformed) in
      let key = try cursor.rawString()
      // A browser would decode an escape, and find another key than this program.
      if key.contains(UInt8(ascii: "\\")) { throw Malformed() }
      try cursor.take(":")
      try member(&cursor, key)
    }
  }

  mutating func array(
    _ element: (inout JSONCursor) throws(Malformed) -> Void
  ) throws(Malformed) {
    try list("[", "]", element)
  }

  /// Returns the text between the quotes, without decoding its escapes.
  mutating func string() throws(Malformed) -> String {
    guard let text = String(validating: try rawString(), as: UTF8.self) else { throw Malformed() }
    return text
  }

  mutating func integer() throws(Malformed) -> Int {
    guard let value = Int(try number()) else { throw Malformed() }
    return value
  }

  mutating func double() throws(Malformed) -> Double {
    guard let value = Double(try number()), value.isFinite else { throw Malformed() }
    return value
  }

  mutating func bool() throws(Malformed) -> Bool {
    if try takesWord("true") { return true }
    guard try takesWord("false") else { throw Malformed() }
    return false
  }

  /// Reads any value.
  mutating func skip() throws(Malformed) {
    switch try next() {
    case UInt8(ascii: "{"): try object { (cursor, _) throws(Malformed) in try cursor.skip() }
    case UInt8(ascii: "["): try array { (cursor) throws(Malformed) in try cursor.skip() }
    case UInt8(ascii: "\""): _ = try string()
    case UInt8(ascii: "t"), UInt8(ascii: "f"): _ = try bool()
    case UInt8(ascii: "n"): if try !takesWord("null") { throw Malformed() }
    default: _ = try number()
    }
  }

  /// Fails if text follows.
  func end() throws(Malformed) {
    if index != bytes.count { throw Malformed() }
  }

  private mutating func list(
    _ begin: Unicode.Scalar, _ end: Unicode.Scalar,
    _ element: (inout JSONCursor) throws(Malformed) -> Void
  ) throws(Malformed) {
    try take(begin)
    depth += 1
    // A recursion per level must not exhaust the stack.
    if depth > 8 { throw Malformed() }
    defer { depth -= 1 }
    if try next() == UInt8(ascii: end) {
      index += 1
      return
    }
    while true {
      try element(&self)
      if try next() == UInt8(ascii: end) { break }
      try take(",")
    }
    index += 1
  }

  private mutating func rawString() throws(Malformed) -> ArraySlice<UInt8> {
    try take("\"")
    let start = index
    while true {
      let byte = try next()
      index += 1
      if byte == UInt8(ascii: "\"") { return bytes[start..<index - 1] }
      if byte < 0x20 { throw Malformed() }
      if byte == UInt8(ascii: "\\") { try escape() }
    }
  }

  private mutating func escape() throws(Malformed) {
    let letter = try next()
    index += 1
    if letter == UInt8(ascii: "u") {
      for _ in 0..<4 {
        let digit = try next()
        guard (0x30...0x39).contains(digit) || (0x61...0x66).contains(digit | 0x20) else {
          throw Malformed()
        }
        index += 1
      }
    } else if !"\"\\/bfnrt".utf8.contains(letter) {
      throw Malformed()
    }
  }

  /// Returns the text of a number.
  private mutating func number() throws(Malformed) -> String {
    let start = index
    if try next() == UInt8(ascii: "-") { index += 1 }
    let zero = try next() == UInt8(ascii: "0")
    if try digits() > 1, zero { throw Malformed() }
    if index < bytes.count, bytes[index] == UInt8(ascii: ".") {
      index += 1
      try digits()
    }
    if index < bytes.count, bytes[index] | 0x20 == UInt8(ascii: "e") {
      index += 1
      if [UInt8(ascii: "+"), UInt8(ascii: "-")].contains(try next()) { index += 1 }
      try digits()
    }
    return String(decoding: bytes[start..<index], as: UTF8.self)
  }

  @discardableResult
  private mutating func digits() throws(Malformed) -> Int {
    let start = index
    while index < bytes.count, (0x30...0x39).contains(bytes[index]) { index += 1 }
    if index == start { throw Malformed() }
    return index - start
  }

  private mutating func takesWord(_ word: String) throws(Malformed) -> Bool {
    guard bytes[index...].starts(with: word.utf8) else { return false }
    index += word.utf8.count
    return true
  }

  private func next() throws(Malformed) -> UInt8 {
    if index == bytes.count { throw Malformed() }
    return bytes[index]
  }

  private mutating func take(_ character: Unicode.Scalar) throws(Malformed) {
    if try next() != UInt8(ascii: character) { throw Malformed() }
    index += 1
  }
}
#endif
