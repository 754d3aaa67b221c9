/// A line of a journal, without its newline: `{"crc":"89abcdef","number":7,"action":…}`.
///
/// The checksum covers all bytes after its comma. The optional members before the content have a fixed order.
struct JournalLine {
  enum Kind {
    /// A commit by an action.
    case action
    /// A commit without an action, and the state after it.
    case state
    /// The first state of a recording.
    case start
    /// The state that follows from the lines before it. A replay can begin here.
    case snapshot
    /// The beginning of a recording that continues the state.
    case resume

    /// A Boolean value that indicates whether the line's number is the previous number plus 1.
    var isCommit: Bool { self == .action || self == .state }

    /// A Boolean value that indicates whether a replay can begin at this line.
    var hasState: Bool { self == .state || self == .start || self == .snapshot }
  }

  let kind: Kind
  let number: Int
  /// The Unix second, on the first line of each second.
  let second: Int?
  /// All commits up to this number were on the disk when the line was written.
  let synced: Int?
  /// The version of the action's or state's type.
  let version: Int
  /// The number of bytes before this snapshot at which the line after its commit begins.
  let back: Int?
  /// A Boolean value that indicates whether a `start` follows from the lines before it.
  let continues: Bool
  let payload: ArraySlice<UInt8>
  /// The content, with its key: `"action":{…}`.
  let content: ArraySlice<UInt8>

  /// A Boolean value that indicates whether the state must follow from the lines before it.
  var isComparable: Bool { kind == .snapshot || continues }

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
      rest.popLast() == UInt8(ascii: "}")
    else { return nil }
    var members: [Int?] = []
    for name: StaticString in ["at\":", "synced\":", "v\":", "back\":"] {
      if rest.skip(name) {
        guard let value = rest.takeNumber(), rest.skip(",\"") else { return nil }
        members.append(value)
      } else {
        members.append(nil)
      }
    }
    continues = rest.skip("continues\":true,\"")
    content = body[(rest.startIndex - 1)..<rest.endIndex]
    guard let kind = rest.takeKind() else { return nil }
    let isAllowed =
      switch kind {
      case .snapshot: !continues
      case .start: members[3] == nil
      case .action, .state: members[3] == nil && !continues
      case .resume: members[2] == nil && members[3] == nil && !continues && rest.isEmpty
      }
    guard isAllowed else { return nil }
    self.kind = kind
    self.number = number
    second = members[0]
    synced = members[1]
    version = members[2] ?? 1
    back = members[3]
    payload = rest
  }

  /// Returns whether the line can follow a line with this number, or be the first line.
  func follows(_ last: Int?) -> Bool {
    guard let last else { return kind.hasState }
    if back != nil { return number <= last }
    return number == last + (kind.isCommit ? 1 : 0)
  }
}

/// The first line of a file: `{"crc":"…","journal":"MiniRex","version":2,"segment":3,"first":4000}`.
///
/// In version 1, it has no segment and no first number. A file that continues another file also has checksums of that
/// file.
struct JournalHeader: Equatable {
  var version = 2
  /// The sequence number of the file.
  ///
  /// The file of version 1 is 0, and a new file 1.
  var segment = 1
  /// The number of the first state.
  var first = 0
  /// The file before this file, or `nil` for the first file of a journal.
  var former: JournalIdentity?
  /// The file of version 1 that the journal continued, unless it is the file before this file.
  var oldest: JournalIdentity?
  /// The number of bytes, with the newline.
  var length = 0

  /// Creates the header of a new file.
  init(
    segment: Int = 1, first: Int = 0, after former: JournalIdentity? = nil,
    oldest: JournalIdentity? = nil
  ) {
    (self.segment, self.first) = (segment, first)
    (self.former, self.oldest) = (former, oldest)
    self.former?.number = first
    length = line.count
  }

  /// Returns `nil` if the line is not the first line of a journal.
  init?(_ line: ArraySlice<UInt8>) throws(JournalFailure) {
    guard var rest = checkedBody(of: line), rest.skip("\"journal\":\"MiniRex\",\"version\":"),
      let version = rest.takeNumber()
    else { return nil }
    length = line.count + 1
    self.version = version
    switch version {
    case 1: segment = 0
    case 2:
      guard rest.skip(",\"segment\":"), let segment = rest.takeNumber(),
        rest.skip(",\"first\":"), let first = rest.takeNumber()
      else { return nil }
      (self.segment, self.first) = (segment, first)
      if rest.skip(",\"after\":") {
        guard let identity = rest.takeIdentity() else { return nil }
        former = identity
        former?.number = first
      }
      if rest.skip(",\"oldest\":") {
        guard let identity = rest.takeIdentity() else { return nil }
        oldest = identity
      }
    default: throw .version(version)
    }
    if !rest.elementsEqual([UInt8(ascii: "}")]) { return nil }
  }

  /// The number up to which the file was on the disk before it got its name, or -1.
  ///
  /// A compaction synchronizes its file before it renames it. The first file of a journal grows under its name.
  var durableNumber: Int { segment > 1 || first > 0 ? first : -1 }

  /// The line, with its newline.
  var line: [UInt8] {
    var writer = JournalLineWriter()
    writer.append(self)
    return writer.bytes
  }
}

/// Returns whether the text begins with a complete line and continues with a byte other than newline or NUL.
///
/// The beginning of a line is not damage: it is the result of a kill in the middle of a write. After a power loss, NULs
/// may follow it.
func isDamagedTail(_ tail: ArraySlice<UInt8>) -> Bool {
  let length = unsafe tail.withUnsafeBufferPointer { unsafe lengthOfObject($0) }
  guard let count = length, count < tail.count, tail[tail.startIndex + count] != 0 else {
    return false
  }
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

/// Returns the number that is written with at least this many digits, and without other zeros in front.
///
/// Returns `nil` for a number that no journal counts to, so a sum of two numbers does not overflow.
func decimal(_ text: some Collection<UInt8>, digits: Int = 1) -> Int? {
  if text.count < digits || text.count > digits && text.first == UInt8(ascii: "0") { return nil }
  if text.count > 18 { return nil }
  var number = 0
  for byte in text {
    let digit = Int(byte) - Int(UInt8(ascii: "0"))
    if !(0...9).contains(digit) { return nil }
    number = number * 10 + digit
  }
  return number
}

/// The largest number in a file, which has 18 digits.
///
/// A forged larger number is damage. A journal fails instead of writing it.
let largestNumber = 999_999_999_999_999_999

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

/// Returns the checksum with which a line begins, or `nil` if no line begins there.
func statedChecksum(of start: ArraySlice<UInt8>) -> UInt32? {
  var rest = start
  return rest.skip(crcMark) ? rest.takeSum() : nil
}

extension ArraySlice<UInt8> {
  fileprivate mutating func skip(_ text: StaticString) -> Bool {
    let isThere = text.withUTF8Buffer { unsafe starts(with: $0) }
    if isThere { removeFirst(text.utf8CodeUnitCount) }
    return isThere
  }

  fileprivate mutating func takeNumber() -> Int? {
    let digits = prefix { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
    removeFirst(digits.count)
    return decimal(digits)
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

  fileprivate mutating func takeIdentity() -> JournalIdentity? {
    guard skip("{\"first\":\""), let first = takeSum(), skip("\",\"last\":\""),
      let last = takeSum(),
      skip("\",\"place\":"), let place = takeNumber()
    else { return nil }
    var identity = JournalIdentity(first: first, last: last, place: place)
    if skip(",\"parts\":\"") {
      while let sum = takeSum() { identity.parts.append(sum) }
      guard skip("\""), identity.parts.count == identity.partCount else { return nil }
    }
    return skip("}") ? identity : nil
  }

  /// Removes the bytes before the payload, the cause of a state included.
  fileprivate mutating func takeKind() -> JournalLine.Kind? {
    if skip("action\":") { return .action }
    if skip("snapshot\":") { return .snapshot }
    if skip("start\":") { return .start }
    if skip("resume\":true") { return .resume }
    if skip("cause\":\"") {
      while let byte = popFirst(), byte != UInt8(ascii: "\"") {
        if byte == UInt8(ascii: "\\") { _ = popFirst() }
      }
      return skip(",\"state\":") ? .state : nil
    }
    return nil
  }
}
