/// A line of a journal, without its newline: `{"crc":"89abcdef","number":7,"action":…}`.
///
/// The checksum covers all bytes after its comma. The first line of a file has the same form, with the format's name
/// and version.
struct JournalLine {
  enum Kind {
    /// A commit by an action.
    case action
    /// A commit without an action, and the state after it.
    case state
    /// The first state of a recording. It does not follow from the lines before it.
    case start
    /// The state that follows from the lines before it. A replay can begin here.
    case snapshot

    /// A Boolean value that indicates whether the line's number is the previous number plus 1.
    var isCommit: Bool { self == .action || self == .state }

    /// A Boolean value that indicates whether a replay can begin at this line.
    var hasState: Bool { self != .action }
  }

  let kind: Kind
  let number: Int
  let payload: ArraySlice<UInt8>

  /// Returns `nil` if the line is damaged.
  init?(_ line: ArraySlice<UInt8>) {
    guard let body = checkedBody(of: line), let found = Self(body: body) else { return nil }
    self = found
  }

  /// Reads the line without comparing its checksum.
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

/// Returns the version in the first line of a journal, or `nil` if the line is not such a line.
func journalVersion(_ line: ArraySlice<UInt8>) -> Int? {
  guard var rest = checkedBody(of: line), rest.skip("\"journal\":\"MiniRex\",\"version\":") else {
    return nil
  }
  return rest.takeNumber()
}

/// Returns whether the text begins with a complete line and continues with a byte other than a newline.
///
/// The beginning of a line is not damage: it is the result of a kill in the middle of a write.
func isDamagedTail(_ tail: ArraySlice<UInt8>) -> Bool {
  let length = unsafe tail.withUnsafeBufferPointer { unsafe lengthOfObject($0) }
  guard let count = length, count < tail.count else { return false }
  return JournalLine(tail.prefix(count)) != nil
}

/// Returns the length of the JSON object with which the text begins, or `nil` if the text ends before.
///
/// Reads each byte once. A proper prefix of an object has an open brace or string, so only one length qualifies.
func lengthOfObject(_ text: some Sequence<UInt8>) -> Int? {
  var (length, depth) = (0, 0)
  var (isString, isEscaped) = (false, false)
  for byte in text {
    length += 1
    if isEscaped {
      isEscaped = false
    } else if isString {
      if byte == UInt8(ascii: "\\") { isEscaped = true }
      if byte == UInt8(ascii: "\"") { isString = false }
    } else if byte == UInt8(ascii: "\"") {
      isString = true
    } else if byte == UInt8(ascii: "{") {
      depth += 1
    } else if byte == UInt8(ascii: "}") {
      depth -= 1
      if depth <= 0 { return depth == 0 ? length : nil }
    }
  }
  return nil
}

let crcMark: StaticString = "{\"crc\":\""
/// The offset of the first byte that the checksum covers: after eight digits, `"`, and `,`.
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

  /// Removes and returns a number without a sign, or returns `nil` if it does not fit.
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

  /// Removes the bytes before the payload, the cause of a state included.
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
