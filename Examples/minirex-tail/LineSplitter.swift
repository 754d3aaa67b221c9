import Foundation

/// What was read at once: the lines that ended in it.
struct Piece: Sendable {
  var lines: [Substring] = []
  var byteCount = 0
}

/// Makes lines of the bytes of one file.
struct LineSplitter: Sendable {
  private(set) var byteCount = 0
  /// What came after the last newline.
  private var rest = Data()

  /// What is not UTF-8 becomes replacement characters.
  mutating func split(_ bytes: Data) -> Piece {
    byteCount += bytes.count
    guard let newline = bytes.lastIndex(of: UInt8(ascii: "\n")) else {
      rest += bytes
      return Piece(byteCount: bytes.count)
    }
    let text = String(decoding: rest + bytes[..<newline], as: UTF8.self)
    rest = Data(bytes[(newline + 1)...])
    let lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    return Piece(lines: lines.map(Substring.init), byteCount: bytes.count)
  }

  /// There was no newline at the end.
  mutating func finish() -> Piece {
    defer { rest = Data() }
    return Piece(lines: rest.isEmpty ? [] : [Substring(decoding: rest, as: UTF8.self)])
  }
}
