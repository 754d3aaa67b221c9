internal import MiniRexStore

/// Reads JSON without a loss: numbers keep their text.
///
/// It accepts the JSON of an encoder, and throws at other text.
struct JSONParser {
  /// The text is not JSON, or more than 512 values are nested.
  struct Failure: Error {}

  private var rest: ArraySlice<UInt8>
  private var depth = 0

  static func value(of text: ArraySlice<UInt8>) throws(Failure) -> JournalJSON {
    var parser = JSONParser(rest: text)
    let value = try parser.takeValue()
    parser.skipSpaces()
    if !parser.rest.isEmpty { throw Failure() }
    return value
  }

  private init(rest: ArraySlice<UInt8>) { self.rest = rest }

  private mutating func skipSpaces() {
    while let byte = rest.first, [0x20, 0x09, 0x0a, 0x0d].contains(byte) { rest.removeFirst() }
  }

  private mutating func skip(_ byte: Character) -> Bool {
    skipSpaces()
    if rest.first != byte.asciiValue { return false }
    rest.removeFirst()
    return true
  }

  private mutating func skip(_ text: String) throws(Failure) {
    if !rest.starts(with: text.utf8) { throw Failure() }
    rest.removeFirst(text.utf8.count)
  }

  private mutating func takeValue() throws(Failure) -> JournalJSON {
    skipSpaces()
    switch rest.first.map({ Character(UnicodeScalar($0)) }) {
    case "{": return try takeObject()
    case "[": return try takeArray()
    case "\"": return .string(try takeString())
    case "t":
      try skip("true")
      return .boolean(true)
    case "f":
      try skip("false")
      return .boolean(false)
    case "n":
      try skip("null")
      return .null
    default:
      let number = rest.prefix { "+-.eE0123456789".utf8.contains($0) }
      if number.isEmpty { throw Failure() }
      rest.removeFirst(number.count)
      return .number(String(decoding: number, as: UTF8.self))
    }
  }

  private mutating func enter() throws(Failure) {
    depth += 1
    if depth > 512 { throw Failure() }
    rest.removeFirst()
  }

  private mutating func takeObject() throws(Failure) -> JournalJSON {
    try enter()
    defer { depth -= 1 }
    var members: [String: JournalJSON] = [:]
    if skip("}") { return .object(members) }
    repeat {
      skipSpaces()
      let name = try takeString()
      if !skip(":") { throw Failure() }
      members[name] = try takeValue()
    } while skip(",")
    if !skip("}") { throw Failure() }
    return .object(members)
  }

  private mutating func takeArray() throws(Failure) -> JournalJSON {
    try enter()
    defer { depth -= 1 }
    var elements: [JournalJSON] = []
    if skip("]") { return .array(elements) }
    repeat { elements.append(try takeValue()) } while skip(",")
    if !skip("]") { throw Failure() }
    return .array(elements)
  }

  private mutating func takeString() throws(Failure) -> String {
    if rest.popFirst() != UInt8(ascii: "\"") { throw Failure() }
    var bytes: [UInt8] = []
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "\""): return String(decoding: bytes, as: UTF8.self)
      case UInt8(ascii: "\\"): try takeEscape(&bytes)
      default: bytes.append(byte)
      }
    }
    throw Failure()
  }

  private mutating func takeEscape(_ bytes: inout [UInt8]) throws(Failure) {
    switch rest.popFirst().map({ Character(UnicodeScalar($0)) }) {
    case "b": bytes.append(0x08)
    case "f": bytes.append(0x0c)
    case "n": bytes.append(0x0a)
    case "r": bytes.append(0x0d)
    case "t": bytes.append(0x09)
    case "u":
      var units = [try takeUnit()]
      if UTF16.isLeadSurrogate(units[0]), rest.starts(with: "\\u".utf8) {
        rest.removeFirst(2)
        units.append(try takeUnit())
      }
      bytes += String(decoding: units, as: UTF16.self).utf8
    case "\"": bytes.append(UInt8(ascii: "\""))
    case "\\": bytes.append(UInt8(ascii: "\\"))
    case "/": bytes.append(UInt8(ascii: "/"))
    default: throw Failure()
    }
  }

  private mutating func takeUnit() throws(Failure) -> UInt16 {
    guard rest.count >= 4,
      let unit = UInt16(String(decoding: rest.prefix(4), as: UTF8.self), radix: 16)
    else { throw Failure() }
    rest.removeFirst(4)
    return unit
  }
}

extension JournalJSON {
  /// The text of the value in one line, with sorted names.
  var text: [UInt8] {
    var bytes: [UInt8] = []
    append(to: &bytes)
    return bytes
  }

  private func append(to bytes: inout [UInt8]) {
    switch self {
    case .null: bytes += "null".utf8
    case .boolean(let value): bytes += (value ? "true" : "false").utf8
    case .number(let text): bytes += text.utf8
    case .string(let text): bytes += quoted(text).utf8
    case .array(let elements):
      bytes.append(UInt8(ascii: "["))
      for (index, element) in elements.enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        element.append(to: &bytes)
      }
      bytes.append(UInt8(ascii: "]"))
    case .object(let members):
      bytes.append(UInt8(ascii: "{"))
      for (index, member) in members.sorted(by: { $0.key < $1.key }).enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        bytes += quoted(member.key).utf8
        bytes.append(UInt8(ascii: ":"))
        member.value.append(to: &bytes)
      }
      bytes.append(UInt8(ascii: "}"))
    }
  }
}
