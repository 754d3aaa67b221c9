import Dispatch
import Foundation

/// Reads the end of a pipe when there is something in it, on the queue of its owner.
///
/// Unchecked because all of it is used on that queue.
final class PipeReading: @unchecked Sendable {
  private static let pieceSize = 65_536
  /// More than a pipe can hold.
  private static let remainderLimit = 1_048_576

  private let pipe: Pipe
  private let queue: DispatchQueue
  private let receive: (Data) -> Void
  private let onEnd: () -> Void
  private var source: (any DispatchSourceRead)?
  private var hasEnded = false

  init(
    _ pipe: Pipe, on queue: DispatchQueue, _ receive: @escaping (Data) -> Void,
    onEnd: @escaping () -> Void
  ) {
    self.pipe = pipe
    self.queue = queue
    self.receive = receive
    self.onEnd = onEnd
    let descriptor = pipe.fileHandleForReading.fileDescriptor
    _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
  }

  /// It keeps itself alive until it ends.
  func start() {
    if hasEnded { return }
    let source = DispatchSource.makeReadSource(
      fileDescriptor: pipe.fileHandleForReading.fileDescriptor, queue: queue)
    // The pipe has to stay open until the source has let go of its descriptor.
    source.setCancelHandler { [pipe] in try? pipe.fileHandleForReading.close() }
    source.setEventHandler { [self] in _ = readPiece() }
    source.activate()
    self.source = source
  }

  /// Ends without waiting for anybody who has the other end.
  func readRemainder() {
    var count = 0
    while count < Self.remainderLimit, let more = readPiece() { count += more }
    end()
  }

  /// `nil` if there is nothing now, or will never be.
  private func readPiece() -> Int? {
    if hasEnded { return nil }
    var piece = Data(count: Self.pieceSize)
    let descriptor = pipe.fileHandleForReading.fileDescriptor
    while true {
      let count = unsafe piece.withUnsafeMutableBytes {
        unsafe read(descriptor, $0.baseAddress, $0.count)
      }
      if count > 0 {
        receive(piece.prefix(count))
        return count
      }
      if count < 0, errno == EINTR { continue }
      if count == 0 || errno != EAGAIN { end() }
      return nil
    }
  }

  private func end() {
    if hasEnded { return }
    hasEnded = true
    source?.cancel()
    source = nil
    onEnd()
  }
}
