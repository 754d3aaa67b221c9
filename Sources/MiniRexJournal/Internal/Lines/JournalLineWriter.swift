#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Formats lines in a buffer that it reuses.
struct JournalLineWriter {
  /// The optional members of a line, before its content.
  struct Members {
    var second: Int?
    var synced: Int?
    var version = 1
    var back: Int?
    var continues = false
  }

  typealias JSON = Data

  private(set) var bytes: [UInt8] = []
  /// The end of the last line with a state, and the number of bytes of that state.
  private(set) var state: (end: Int, bytes: Int)?
  /// The number of actions after the last state.
  private(set) var actions = 0

  mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    state = nil
    actions = 0
  }

  mutating func append(_ header: JournalHeader) {
    appendLine { line in
      line.append("\"journal\":\"MiniRex\",\"version\":2,\"segment\":")
      line.append(header.segment)
      line.append(",\"first\":")
      line.append(header.first)
      line.append(",\"after\":", header.former)
      line.append(",\"oldest\":", header.oldest)
    }
  }

  private mutating func append(_ key: StaticString, _ identity: JournalIdentity?) {
    guard let identity else { return }
    append(key)
    append("{\"first\":\"")
    append(checksum: identity.first)
    append("\",\"last\":\"")
    append(checksum: identity.last)
    append("\",\"place\":")
    append(identity.place)
    if !identity.parts.isEmpty {
      append(",\"parts\":\"")
      for sum in identity.parts { append(checksum: sum) }
      append("\"")
    }
    append("}")
  }

  private mutating func append(checksum sum: UInt32) {
    bytes += (0..<8).reversed().map { hexDigits[Int(sum >> (4 * $0) & 15)] }
  }

  /// - Parameters:
  ///   - key: `action`, `start`, `snapshot`, or `resume`, or the cause and `state`.
  ///   - payload: JSON without a newline.
  mutating func append(_ number: Int, _ members: Members, _ key: String, _ payload: Data) {
    appendLine { line in
      line.append(number, members)
      var key = key
      key.withUTF8 { unsafe line.bytes.append(contentsOf: $0) }
      line.append(":")
      unsafe payload.withUnsafeBytes { unsafe line.bytes.append(contentsOf: $0) }
    }
  }

  /// Appends a line with its number as `synced`, to a file that gets its name when it is on the disk.
  mutating func appendVouching(_ line: JournalLine) {
    let members = Members(
      second: line.second, synced: line.number, version: line.version, continues: line.continues)
    appendLine {
      $0.append(line.number, members)
      $0.bytes += line.content
    }
  }

  /// Appends a line without a change, which vouches for the lines before it.
  mutating func appendMark(_ number: Int, synced: Int) {
    append(number, Members(synced: synced), "\"resume\"", Data("true".utf8))
  }

  private mutating func append(_ number: Int, _ members: Members) {
    append("\"number\":")
    append(number)
    append(",\"at\":", members.second)
    append(",\"synced\":", members.synced)
    append(",\"v\":", members.version > 1 ? members.version : nil)
    append(",\"back\":", members.back)
    if members.continues { append(",\"continues\":true") }
    append(",")
  }

  /// Appends the lines of another writer.
  mutating func append(_ lines: JournalLineWriter) {
    if let state = lines.state {
      self.state = (bytes.count + state.end, state.bytes)
      actions = 0
    }
    bytes += lines.bytes
    actions += lines.actions
  }

  mutating func countAction() { actions += 1 }

  mutating func countState(_ bytes: Int) {
    state = (self.bytes.count, bytes)
    actions = 0
  }

  private mutating func append(_ key: StaticString, _ number: Int?) {
    guard let number else { return }
    append(key)
    append(number)
  }

  /// Appends the digits of a number of 0 or more, without a string.
  private mutating func append(_ number: Int) {
    let start = bytes.count
    var rest = UInt(number)
    repeat {
      bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
      rest /= 10
    } while rest > 0
    bytes[start...].reverse()
  }

  private mutating func appendLine(_ body: (inout Self) -> Void) {
    let start = bytes.count
    append("{\"crc\":\"00000000\",")
    body(&self)
    append("}")
    var sum = Checksum.of(bytes[(start + bodyOffset)...])
    for place in (0..<8).reversed() {
      bytes[start + crcMark.utf8CodeUnitCount + place] = hexDigits[Int(sum & 15)]
      sum >>= 4
    }
    append("\n")
  }

  private mutating func append(_ text: StaticString) {
    text.withUTF8Buffer { unsafe bytes.append(contentsOf: $0) }
  }
}

private let hexDigits = Array("0123456789abcdef".utf8)
