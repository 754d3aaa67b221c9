import Foundation

/// A line as bytes, without the newline: a string is made only of what is shown.
typealias Line = ArraySlice<UInt8>

/// What was read at once, and the lines that ended in it.
typealias Piece = (byteCount: Int, lines: [Line])

/// Makes lines of the bytes of one file.
struct LineSplitter: Sendable {
  /// A longer line comes in several of this many bytes.
  static let limit = 1 << 20

  /// What came after the last newline.
  private var rest: [UInt8] = []

  mutating func split(_ bytes: Data) -> Piece {
    rest += bytes
    if rest.count <= Self.limit, !bytes.contains(UInt8(ascii: "\n")) { return (bytes.count, []) }
    var lines = rest.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    if rest.count > Self.limit { lines = lines.flatMap { $0.cut(to: Self.limit) } }
    rest = Array(lines.removeLast())
    return (bytes.count, lines)
  }

  /// There was no newline at the end.
  mutating func finish() -> Piece {
    defer { rest = [] }
    return (0, rest.isEmpty ? [] : [rest[...]])
  }
}

extension Line {
  /// True if `text` is somewhere in here; an empty one is everywhere.
  func contains(_ text: [UInt8]) -> Bool {
    guard let first = text.first else { return true }
    return unsafe withUnsafeBytes { line in
      guard let base = line.baseAddress else { return false }
      var start = 0
      // From one first letter to the next, many bytes at a time.
      while let found = unsafe memchr(base + start, Int32(first), line.count - start) {
        start = unsafe UnsafeRawPointer(found) - base
        if unsafe line[start...].starts(with: text) { return true }
        start += 1
      }
      return false
    }
  }

  fileprivate func cut(to limit: Int) -> [Line] {
    if count <= limit { return [self] }
    return stride(from: startIndex, to: endIndex, by: limit).map { self[$0...].prefix(limit) }
  }
}
