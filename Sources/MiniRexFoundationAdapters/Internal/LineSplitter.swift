internal import Foundation

/// Splits bytes into lines, and a long line into pieces that end between two characters.
struct LineSplitter {
  private static let limit = 1_048_576
  /// The maximum length of a scalar in UTF-8.
  private static let scalarLimit = 4

  private var rest: [UInt8] = []

  /// Passes each line that is now complete to `receive`.
  mutating func split(_ bytes: Data, _ receive: (String) -> Void) {
    // `Data` checks each byte access. Searching an array takes a tenth of the time.
    var bytes = [UInt8](bytes)[...]
    while let end = bytes.firstIndex(of: UInt8(ascii: "\n")) {
      rest += bytes[..<end]
      if rest.last == UInt8(ascii: "\r") { rest.removeLast() }
      flush(receive)
      bytes = bytes[(end + 1)...]
    }
    rest += bytes
    // The place of a cut depends on the scalar behind it. A carriage return may end the line.
    while rest.count >= Self.limit + Self.scalarLimit { cut(receive) }
  }

  /// Passes the last line to `receive`, if it has no line ending.
  mutating func end(_ receive: (String) -> Void) {
    if !rest.isEmpty { flush(receive) }
  }

  private mutating func flush(_ receive: (String) -> Void) {
    while rest.count > Self.limit { cut(receive) }
    receive(String(decoding: rest, as: UTF8.self))
    rest.removeAll(keepingCapacity: true)
  }

  /// Passes the longest beginning of the line that fits and ends between two characters.
  ///
  /// A character that does not fit is cut between two scalars.
  private mutating func cut(_ receive: (String) -> Void) {
    let end = Self.scalarBoundary(of: rest)
    let piece = String(decoding: rest[..<end], as: UTF8.self)
    let next = String(decoding: rest[end...].prefix(Self.scalarLimit), as: UTF8.self)
    let longer = piece + String(next.unicodeScalars.prefix(1))
    let last = longer.index(before: longer.endIndex)
    if last == longer.startIndex {
      receive(piece)
      rest.removeSubrange(..<end)
    } else {
      let whole = longer[..<last]
      receive(String(whole))
      rest.replaceSubrange(..<end, with: piece.utf8.dropFirst(whole.utf8.count))
    }
  }

  /// Returns the last position within the limit that is between two scalars.
  ///
  /// It does not divide invalid bytes that are repaired as one.
  private static func scalarBoundary(of bytes: [UInt8]) -> Int {
    let isStart = { (byte: UInt8) in byte & 0xC0 != 0x80 }
    let start = bytes[...limit].suffix(scalarLimit).lastIndex(where: isStart)
    guard let start else { return limit }
    // The number of leading ones is the length of a scalar that has several bytes.
    return start + (~bytes[start]).leadingZeroBitCount > limit ? start : limit
  }
}
