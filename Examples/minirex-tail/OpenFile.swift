import Foundation
import MiniRex
import MiniRexFoundationAdapters

/// A file that is open, whatever name it has now, and how far it has been read.
final class OpenFile {
  private let descriptor: Int32
  private var watch: Subscription?
  /// `nil` until it has been read once from its beginning.
  private var splitter: LineSplitter?

  init(_ path: String) throws(POSIXError) {
    // A pipe that nobody writes to must not stop the program here.
    descriptor = unsafe open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    if descriptor < 0 { throw .last }
  }

  deinit {
    close(descriptor)
  }

  /// Another path to this very file.
  private var url: URL { URL(filePath: "/dev/fd/\(descriptor)") }

  private var status: stat {
    var status = stat()
    unsafe fstat(descriptor, &status)
    return status
  }

  var isEmpty: Bool { status.st_size == 0 }

  func isNamed(_ path: String) -> Bool {
    var named = stat()
    let own = status
    return unsafe stat(path, &named) == 0
      && (named.st_dev, named.st_ino) == (own.st_dev, own.st_ino)
  }

  /// Hints from now on when it changes.
  func follow(_ findings: Findings) {
    watch = findings.watch(url)
  }

  var isTruncated: Bool { status.st_size < splitter?.byteCount ?? 0 }

  /// Reads what is there. From the beginning, that is a task, which a cancellation stops.
  func read(_ findings: Findings) async throws {
    guard var splitter else {
      let reading = url.readTask(into: LineSplitter()) { splitter, bytes in
        findings.pieces.broadcast(Piece(lines: splitter.split(bytes), byteCount: bytes.count))
      }
      let bar = progressBar(of: reading)
      defer { bar.invalidate() }
      self.splitter = try await reading.value
      return
    }
    // Not what is written meanwhile, so that the others have their turn too.
    let size = status.st_size
    while splitter.byteCount < size {
      var bytes = Data(count: min(1 << 18, size - splitter.byteCount))
      let count = unsafe bytes.withUnsafeMutableBytes {
        unsafe pread(descriptor, $0.baseAddress, $0.count, off_t(splitter.byteCount))
      }
      if count < 0 { throw POSIXError.last }
      if count == 0 { return }
      findings.pieces.broadcast(Piece(lines: splitter.split(bytes.prefix(count)), byteCount: count))
      self.splitter = splitter
    }
  }

  /// Tells the line that has no newline, and begins again.
  func finish(_ findings: Findings) {
    if let lines = splitter?.finish() { findings.pieces.broadcast(Piece(lines: lines, byteCount: 0)) }
    splitter = nil
  }
}
