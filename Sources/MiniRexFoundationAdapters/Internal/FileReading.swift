import Dispatch
import Foundation
import Synchronization

/// One run of reading a file, on a queue that may wait for the disk.
final class FileReading: Sendable {
  let queue = DispatchQueue(label: "MiniRex.reading")

  private static let pieceSize = 262_144
  private let isStopped = Atomic(false)

  /// The next piece, if there is any, is the last.
  func stop() { isStopped.store(true, ordering: .relaxed) }

  /// Reads until the end, or until it is stopped.
  ///
  /// - Parameter open: Called with the size, if there is one.
  func read(
    _ url: URL, open: (_ size: Int?) -> Void, receive: (Data) -> Void
  ) throws(POSIXError) {
    guard url.isFileURL else { throw POSIXError(.EINVAL, path: url.absoluteString) }
    let path = url.path
    // A pipe to which nobody writes is not waited for here.
    let descriptor = unsafe Foundation.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    if descriptor < 0 { throw POSIXError(errno: errno, path: path) }
    defer { close(descriptor) }
    var status = stat()
    if unsafe fstat(descriptor, &status) < 0 { throw POSIXError(errno: errno, path: path) }
    open(status.st_mode & S_IFMT == S_IFREG && status.st_size > 0 ? Int(status.st_size) : nil)
    while !isStopped.load(ordering: .relaxed) {
      var piece = Data(count: Self.pieceSize)
      let count = unsafe piece.withUnsafeMutableBytes {
        unsafe Foundation.read(descriptor, $0.baseAddress, $0.count)
      }
      if count == 0 { return }
      if count > 0 {
        receive(piece.prefix(count))
      } else if errno == EAGAIN {
        // Looks up now and then, since only a stop may come.
        var readable = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        unsafe poll(&readable, 1, 100)
      } else if errno != EINTR {
        throw POSIXError(errno: errno, path: path)
      }
    }
  }
}
