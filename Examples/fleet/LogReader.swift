#if NATS
import Foundation
import MiniRex

/// Reads new lines from the end of a file.
final class LogReader: Sendable {
  private let file: FileHandle?
  private let rest = PublishedProperty(Data())

  /// Starts at the present end of the file.
  init(_ path: String) {
    file = FileHandle(forReadingAtPath: path)
    _ = try? file?.seekToEnd()
  }

  /// Returns the complete lines since the last call.
  func next() -> [String] {
    let new = (try? file?.readToEnd()) ?? Data()
    var lines = (rest.value + new).split(
      separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    rest.value = lines.popLast().map { Data($0) } ?? Data()
    return lines.map { String(decoding: $0, as: UTF8.self) }
  }
}
#endif
