/// One line of a journal, without its newline.
///
/// `{"crc":"89abcdef","number":7,"action":…}`, where the checksum is that of all that comes after
/// its comma. The first line of a file says what it is, in the same form.
struct JournalLine {
  enum Kind {
    /// A commit by an action.
    case action
    /// A commit without an action, and the state that it has left.
    case state
    /// A recording begins with this state.
    case start
    /// The state after the lines before it, so that not all of them have to be read.
    case snapshot

    /// Whether the number is one more than that of the line before.
    var isCommit: Bool { self == .action || self == .state }

    /// Whether what comes before need not be read.
    var hasState: Bool { self != .action }
  }

  let kind: Kind
  let number: Int
  let payload: ArraySlice<UInt8>

  /// `nil` if the line is not as it was written.
  init?(_ line: ArraySlice<UInt8>) {
    guard let body = checkedBody(of: line), let found = Self(body: body) else { return nil }
    self = found
  }

  /// Looks at what the line says, and not whether that is true.
  init?(unchecked line: ArraySlice<UInt8>) {
    guard line.count > bodyOffset, let found = Self(body: line.dropFirst(bodyOffset)) else {
      return nil
    }
    self = found
  }

  private init?(body: ArraySlice<UInt8>) {
    var rest = body
    guard rest.skip("\"number\":"), let number = rest.takeNumber(), rest.skip(",\""),
      let kind = rest.takeKind(), rest.popLast() == UInt8(ascii: "}")
    else { return nil }
    self.kind = kind
    self.number = number
    payload = rest
  }
}

/// The first line, with its newline.
let journalHeader: [UInt8] = {
  var line = JournalLineWriter()
  line.appendHeader()
  return line.bytes
}()

/// The version that the first line of a journal tells; `nil` if it is none.
func journalVersion(_ line: ArraySlice<UInt8>) -> Int? {
  guard var rest = checkedBody(of: line), rest.skip("\"journal\":\"MiniRex\",\"version\":") else {
    return nil
  }
  return rest.takeNumber()
}

/// True if the text begins with a whole line, and goes on with something else than a newline.
///
/// What was being written when the program was killed is the beginning of a line and no more.
func isDamagedTail(_ tail: ArraySlice<UInt8>) -> Bool {
  tail.indices.dropLast().contains { index in
    tail[index] == UInt8(ascii: "}") && JournalLine(tail[...index]) != nil
  }
}

let crcMark: StaticString = "{\"crc\":\""
/// Where the part of the line begins that the checksum is of: after eight digits, `"` and `,`.
let bodyOffset = crcMark.utf8CodeUnitCount + 10

private func checkedBody(of line: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
  var rest = line
  guard rest.skip(crcMark), let sum = rest.takeSum(), rest.skip("\","),
    sum == Checksum.of(rest)
  else { return nil }
  return rest
}

extension ArraySlice<UInt8> {
  fileprivate mutating func skip(_ text: StaticString) -> Bool {
    let isThere = text.withUTF8Buffer { unsafe starts(with: $0) }
    if isThere { removeFirst(text.utf8CodeUnitCount) }
    return isThere
  }

  /// Without a sign, and of few enough digits to be a number.
  fileprivate mutating func takeNumber() -> Int? {
    let digits = prefix(19).prefix { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
    removeFirst(digits.count)
    if digits.isEmpty { return nil }
    var number = 0
    for digit in digits {
      let (tens, isTooLarge) = number.multipliedReportingOverflow(by: 10)
      let (sum, isStill) = tens.addingReportingOverflow(Int(digit - UInt8(ascii: "0")))
      if isTooLarge || isStill { return nil }
      number = sum
    }
    return number
  }

  fileprivate mutating func takeSum() -> UInt32? {
    guard count >= 8 else { return nil }
    var sum: UInt32 = 0
    for digit in prefix(8) {
      switch digit {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): sum = sum << 4 | UInt32(digit & 15)
      case UInt8(ascii: "a")...UInt8(ascii: "f"): sum = sum << 4 | UInt32(digit & 15) + 9
      default: return nil
      }
    }
    removeFirst(8)
    return sum
  }

  /// Up to the payload, past the cause of a state.
  fileprivate mutating func takeKind() -> JournalLine.Kind? {
    if skip("action\":") { return .action }
    if skip("snapshot\":") { return .snapshot }
    if skip("start\":") { return .start }
    if skip("cause\":\"") {
      while let byte = popFirst(), byte != UInt8(ascii: "\"") {
        if byte == UInt8(ascii: "\\") { _ = popFirst() }
      }
      return skip(",\"state\":") ? .state : nil
    }
    return nil
  }
}
