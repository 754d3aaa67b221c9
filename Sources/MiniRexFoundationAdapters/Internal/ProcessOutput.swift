internal import Foundation
internal import MiniRexEssentialsAdapters

/// The lines of one stream of a program.
struct ProcessOutput {
  private static let pieceSize = 65_536
  /// More than a pipe can hold.
  private static let remainderLimit = 1_048_576

  let descriptor: Descriptor
  private let tell: (String) -> Void
  private var splitter = LineSplitter()

  /// - Parameter descriptor: An end of a pipe that nobody else has.
  init(_ descriptor: Descriptor, tell: @escaping (String) -> Void) {
    _ = fcntl(descriptor.number, F_SETFL, O_NONBLOCK)
    self.descriptor = descriptor
    self.tell = tell
  }

  /// Tells the lines that are there, without waiting, and at the end also one that is not complete.
  ///
  /// - Returns: How many bytes there were; `nil` at the end.
  mutating func next() -> Int? {
    do throws(POSIXError) {
      let reader = DescriptorReader(owning: descriptor)
      guard let piece = try reader.read(upTo: Self.pieceSize) else { return 0 }
      if !piece.isEmpty {
        splitter.split(piece, tell)
        return piece.count
      }
    } catch {}
    splitter.end(tell)
    return nil
  }

  /// Tells the rest, without waiting for anybody else who has the other end.
  mutating func end() {
    var count = 0
    while count < Self.remainderLimit, let more = next(), more > 0 { count += more }
    splitter.end(tell)
  }
}
