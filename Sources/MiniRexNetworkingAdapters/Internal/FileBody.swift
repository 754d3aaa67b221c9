internal import Foundation
internal import MiniRex
internal import MiniRexEssentialsAdapters

/// A body in a hidden file, which is renamed when it is complete and removed otherwise.
final class FileBody: TransferBody {
  private let file: URL
  private let descriptor: Int32
  private let hiddenPath: String
  /// `true` once the file has its final name, or will never have it.
  private let isSettled = Lock(false)

  init(_ file: URL) throws(POSIXError) {
    guard file.isFileURL else { throw POSIXError(.EINVAL, path: file.absoluteString) }
    var status = stat()
    let exists = unsafe stat(file.path, &status) == 0
    if exists, status.st_mode & S_IFMT == S_IFDIR { throw POSIXError(.EISDIR, path: file.path) }
    self.file = file
    let folder = file.deletingLastPathComponent()
    hiddenPath = folder.appendingPathComponent(".minirex-\(UUID().uuidString)").path
    descriptor = unsafe open(hiddenPath, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
    if descriptor < 0 { throw POSIXError(errno: errno, path: file.path) }
  }

  deinit {
    discard()
    close(descriptor)
  }

  func restart() throws(POSIXError) {
    if lseek(descriptor, 0, SEEK_SET) < 0 || ftruncate(descriptor, 0) < 0 {
      throw POSIXError(errno: errno, path: file.path)
    }
  }

  func append(_ data: Data) throws(POSIXError) {
    var rest = data[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno != EINTR { throw POSIXError(errno: errno, path: file.path) }
      rest = rest.dropFirst(max(0, count))
    }
  }

  func finish() throws(POSIXError) -> URL {
    settle()
    if unsafe rename(hiddenPath, file.path) == 0 { return file }
    let error = POSIXError(errno: errno, path: file.path)
    unsafe unlink(hiddenPath)
    throw error
  }

  func discard() {
    if settle() { unsafe unlink(hiddenPath) }
  }

  /// Returns `true` for the first call.
  @discardableResult
  private func settle() -> Bool {
    isSettled.withLock { isSettled in
      defer { isSettled = true }
      return !isSettled
    }
  }
}
