import Foundation

/// A line as bytes, without the newline: a string is made only of what is shown.
typealias Line = ArraySlice<UInt8>

/// What was read at once, and the lines that ended in it.
typealias Piece = (byteCount: Int, lines: [Line])

/// Makes lines of the bytes of one file.
struct LineSplitter: Sendable {
  private(set) var byteCount = 0
  /// What came after the last newline.
  private var rest: [UInt8] = []

  mutating func split(_ bytes: Data) -> Piece {
    byteCount += bytes.count
    rest += bytes
    guard bytes.contains(UInt8(ascii: "\n")) else { return (bytes.count, []) }
    var lines = rest.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    rest = Array(lines.removeLast())
    return (bytes.count, lines)
  }

  /// There was no newline at the end.
  func finish() -> Piece { (0, rest.isEmpty ? [] : [rest[...]]) }
}

extension Line {
  /// True if `text` is somewhere in here; an empty one is everywhere.
  func contains(_ text: [UInt8]) -> Bool {
    var rest = self
    while let start = text.isEmpty ? rest.startIndex : rest.firstIndex(of: text[0]) {
      rest = rest[start...]
      if rest.starts(with: text) { return true }
      rest.removeFirst()
    }
    return false
  }
}
