import Foundation
import MiniRex
import MiniRexFoundationAdapters

/// A file that is open, whatever name it has now, and how far it has been read.
final class OpenFile {
  private let handle: FileHandle
  private var watching: Subscription?
  /// `nil` until the file has been read from its beginning.
  private var splitter: LineSplitter?

  init(_ path: String) throws(POSIXError) {
    // A pipe that nobody writes to must not stop the program here.
    let descriptor = unsafe open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    if descriptor < 0 { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
  }

  /// Leads to this very file.
  private var url: URL { URL(filePath: "/dev/fd/\(handle.fileDescriptor)") }

  var size: Int { Int(status(of: url.path).st_size) }

  var isBegun: Bool { splitter != nil }

  var isTruncated: Bool { size < splitter?.byteCount ?? 0 }

  func has(_ path: String) -> Bool {
    let (own, named) = (status(of: url.path), status(of: path))
    return (own.st_dev, own.st_ino) == (named.st_dev, named.st_ino)
  }

  func follow() {
    watching = watch(url)
  }

  /// Reads what is there; from the beginning that is a task, which a cancellation stops.
  func read() async throws {
    if !isBegun {
      let reading = url.readTask(into: LineSplitter()) { pieces.broadcast($0.split($1)) }
      let bar = progressBar(of: reading).subscribe { complain($0) }
      defer { bar.invalidate() }
      splitter = try await reading.value
    }
    // Not what is written meanwhile, so that the others have their turn too.
    let size = size
    while var splitter, splitter.byteCount < size {
      try handle.seek(toOffset: UInt64(splitter.byteCount))
      let count = min(1 << 18, size - splitter.byteCount)
      guard let bytes = try handle.read(upToCount: count), !bytes.isEmpty else { return }
      pieces.broadcast(splitter.split(bytes))
      self.splitter = splitter
    }
  }

  /// Tells the last line also if it has no newline, and begins again.
  func finish() {
    if let splitter { pieces.broadcast(splitter.finish()) }
    splitter = nil
  }
}

/// All zeros if there is no such file.
private func status(of path: String) -> stat {
  var status = stat()
  unsafe stat(path, &status)
  return status
}
