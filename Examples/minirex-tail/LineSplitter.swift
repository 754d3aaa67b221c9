import Foundation

/// The bytes of a line without its newline.
///
/// Only matches become strings.
typealias Line = ArraySlice<UInt8>

/// The size of one read, and the lines that ended in it.
typealias Piece = (byteCount: Int, lines: [Line])

/// Splits the bytes of one file into lines.
struct LineSplitter: Sendable {
  /// A Boolean value that indicates whether the lines are complete.
  ///
  /// Otherwise, only their number is right, and a long line takes no memory.
  let keepsLines: Bool
  /// The bytes after the last newline.
  private var rest: [UInt8] = []

  init(keepsLines: Bool) { self.keepsLines = keepsLines }

  mutating func split(_ bytes: Data) -> Piece {
    // One byte is enough to count the line.
    if !keepsLines, rest.count > 1 { rest.removeLast(rest.count - 1) }
    rest += bytes
    if !bytes.contains(UInt8(ascii: "\n")) { return (bytes.count, []) }
    var lines = rest.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    rest = Array(lines.removeLast())
    return (bytes.count, lines)
  }

  /// Returns the last line if it has no newline.
  mutating func finish() -> Piece {
    defer { rest = [] }
    return (0, rest.isEmpty ? [] : [rest[...]])
  }
}

extension Line {
  /// Returns `true` if the line contains `text`, or if `text` is empty.
  func contains(_ text: [UInt8]) -> Bool {
    guard let first = text.first else { return true }
    return unsafe withUnsafeBytes { line in
      guard let base = line.baseAddress else { return false }
      var start = 0
      // `memchr` skips to the next possible beginning, many bytes at a time.
      while let found = unsafe memchr(base + start, Int32(first), line.count - start) {
        start = unsafe UnsafeRawPointer(found) - base
        if unsafe line[start...].starts(with: text) { return true }
        start += 1
      }
      return false
    }
  }
}
