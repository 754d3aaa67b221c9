import Foundation

/// The lines that ended in the last read, and the beginning of the next line.
struct Lines: Sendable {
  private(set) var whole: [String] = []
  private var rest = Data()

  func adding(_ data: Data) -> Lines {
    var next = Lines()
    var lines = (rest + data).split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    next.rest = Data(lines.removeLast())
    next.whole = lines.map { line in
      String(decoding: line.last == UInt8(ascii: "\r") ? line.dropLast() : line, as: UTF8.self)
    }
    return next
  }
}
