internal import Foundation

/// Splits bytes into lines.
struct LineSplitter {
  private static let limit = 1_048_576

  private var rest: [UInt8] = []

  /// Passes each line that is now complete to `receive`.
  mutating func split(_ bytes: Data, _ receive: (String) -> Void) {
    // `Data` checks each byte access. Searching an array takes a tenth of the time.
    var bytes = [UInt8](bytes)[...]
    while let end = bytes.firstIndex(of: UInt8(ascii: "\n")) {
      take(bytes[..<end], receive)
      flush(receive)
      bytes = bytes[(end + 1)...]
    }
    take(bytes, receive)
  }

  /// Passes the last line to `receive`, if it has no line ending.
  mutating func end(_ receive: (String) -> Void) {
    if !rest.isEmpty { flush(receive) }
  }

  private mutating func take(_ piece: ArraySlice<UInt8>, _ receive: (String) -> Void) {
    var piece = piece
    while rest.count + piece.count > Self.limit {
      let room = Self.limit - rest.count
      rest += piece.prefix(room)
      flush(receive)
      piece = piece.dropFirst(room)
    }
    rest += piece
  }

  private mutating func flush(_ receive: (String) -> Void) {
    receive(String(decoding: rest, as: UTF8.self))
    rest.removeAll(keepingCapacity: true)
  }
}
