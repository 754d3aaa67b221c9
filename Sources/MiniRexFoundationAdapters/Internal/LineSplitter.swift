internal import Foundation

/// Cuts bytes into lines.
struct LineSplitter {
  private static let limit = 1_048_576

  private var rest = Data()

  /// Calls with each line that is complete now.
  mutating func split(_ bytes: Data, _ receive: (String) -> Void) {
    var start = bytes.startIndex
    while let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) {
      take(bytes[start..<end], receive)
      flush(receive)
      start = bytes.index(after: end)
    }
    take(bytes[start...], receive)
  }

  /// Calls with the last line, if there is one without an end.
  mutating func end(_ receive: (String) -> Void) {
    if !rest.isEmpty { flush(receive) }
  }

  private mutating func take(_ piece: Data, _ receive: (String) -> Void) {
    var piece = piece
    while rest.count + piece.count > Self.limit {
      let room = Self.limit - rest.count
      rest.append(piece.prefix(room))
      flush(receive)
      piece = piece.dropFirst(room)
    }
    rest.append(piece)
  }

  private mutating func flush(_ receive: (String) -> Void) {
    receive(String(decoding: rest, as: UTF8.self))
    rest = Data()
  }
}
