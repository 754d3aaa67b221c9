internal import Foundation
internal import MiniRexEssentialsAdapters

/// The lines of one stream of a program.
struct ProcessOutput {
  private static let pieceSize = 65_536
  /// The number of bytes that `end` reads at most: more than the capacity of a pipe.
  ///
  /// A child that still writes would otherwise keep it reading.
  private static let remainderLimit = 1_048_576

  let descriptor: Descriptor
  private let tell: (String) -> Void
  private var splitter = LineSplitter()

  /// - Parameter descriptor: The only descriptor of this end of a pipe.
  init(_ descriptor: Descriptor, tell: @escaping (String) -> Void) {
    _ = fcntl(descriptor.number, F_SETFL, O_NONBLOCK)
    self.descriptor = descriptor
    self.tell = tell
  }

  /// Passes on the available lines without blocking, and at the end the incomplete last line.
  ///
  /// - Returns: The number of bytes, or `nil` at the end.
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

  /// Passes on the rest, without waiting for other holders of the writing end.
  mutating func end() {
    var count = 0
    while count < Self.remainderLimit, let more = next(), more > 0 { count += more }
    splitter.end(tell)
  }
}
