internal import Foundation
internal import MiniRex
internal import MiniRexEssentialsAdapters

/// A body in a hidden file, which is renamed when it is complete and removed otherwise.
final class FileBody: TransferBody {
  private let file: URL
  private let path: [CChar]
  private let descriptor: Int32
  private let hiddenPath: [CChar]
  /// `true` once the file has its final name, or will never have it.
  private let isSettled = Lock(false)

  init(_ file: URL) throws(POSIXError) {
    self.file = file
    path = try file.systemPath
    var status = stat()
    let exists = unsafe stat(path, &status) == 0
    if exists, status.st_mode & S_IFMT == S_IFDIR { throw POSIXError(.EISDIR, path: file.name) }
    let slash = path.lastIndex(of: CChar(UInt8(ascii: "/"))) ?? -1
    hiddenPath = path.prefix(slash + 1) + Array(".minirex-\(UUID().uuidString)".utf8CString)
    descriptor = unsafe open(hiddenPath, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
    if descriptor < 0 { throw POSIXError(errno: errno, path: file.name) }
  }

  deinit {
    discard()
    close(descriptor)
  }

  func restart() throws(POSIXError) {
    if lseek(descriptor, 0, SEEK_SET) < 0 || ftruncate(descriptor, 0) < 0 {
      throw POSIXError(errno: errno, path: file.name)
    }
  }

  func append(_ data: Data) throws(POSIXError) {
    var rest = data[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno != EINTR { throw POSIXError(errno: errno, path: file.name) }
      rest = rest.dropFirst(max(0, count))
    }
  }

  func finish() throws(POSIXError) -> URL {
    settle()
    if unsafe rename(hiddenPath, path) == 0 { return file }
    let error = POSIXError(errno: errno, path: file.name)
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
