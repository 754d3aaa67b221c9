import Foundation
import MiniRex

/// Reads what is added to a file, line by line.
final class LogReader: Sendable {
  private let file: FileHandle?
  private let rest = PublishedProperty(Data())

  /// From the end of what is there.
  init(_ path: String) {
    file = FileHandle(forReadingAtPath: path)
    _ = try? file?.seekToEnd()
  }

  /// What has come since the last call, without the line that has no end yet.
  func next() -> [String] {
    let new = (try? file?.readToEnd()) ?? Data()
    var lines = (rest.value + new).split(
      separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    rest.value = lines.popLast().map { Data($0) } ?? Data()
    return lines.map { String(decoding: $0, as: UTF8.self) }
  }
}
