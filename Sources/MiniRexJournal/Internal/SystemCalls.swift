internal import CLibrary

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Repeats a system call that a signal interrupts, and throws its error.
@discardableResult
func check<Number: SignedInteger>(_ call: () -> Number) throws(JournalFailure) -> Number {
  while true {
    let result = call()
    if result >= 0 { return result }
    let code = errno
    if code != EINTR { throw .file(POSIXErrorCode(rawValue: code) ?? .EIO) }
  }
}

/// Opens a regular file, and creates it if necessary.
///
/// - Returns: The descriptor, and the reason why the file can only be read.
func openFile(_ path: String) throws(JournalFailure) -> (Int32, refusal: JournalFailure?) {
  do throws(JournalFailure) {
    return (try openRegularFile(path, O_RDWR | O_CREAT), nil)
  } catch {
    guard [.file(.EROFS), .file(.EACCES), .file(.EPERM)].contains(error),
      let descriptor = try? openRegularFile(path, O_RDONLY)
    else { throw error }
    return (descriptor, error)
  }
}

private func openRegularFile(_ path: String, _ flags: Int32) throws(JournalFailure) -> Int32 {
  // Without `O_NONBLOCK`, opening a pipe waits for its other end.
  let flags = flags | O_APPEND | O_CLOEXEC | O_NONBLOCK
  let descriptor = try check { unsafe open(path, flags, 0o666) }
  if let status = try? status(of: descriptor), status.st_mode & S_IFMT == S_IFREG {
    return descriptor
  }
  close(descriptor)
  // A pipe, a terminal, or `/dev/null` does not return the bytes that it was given.
  throw .file(.EINVAL)
}

/// Excludes a second journal in this process and in other processes.
///
/// Journals that can only read share the lock.
func lockFile(_ descriptor: Int32, _ mode: Int32) throws(JournalFailure) {
  do throws(JournalFailure) {
    try check { flock(descriptor, mode | LOCK_NB) }
  } catch {
    throw error == .file(.EWOULDBLOCK) ? .inUse : error
  }
}

/// Unlocks explicitly: a child process has a copy of the descriptor, and with it the lock, until `exec`.
func unlockAndClose(_ descriptor: Int32) {
  flock(descriptor, LOCK_UN)
  close(descriptor)
}

func status(of descriptor: Int32) throws(JournalFailure) -> stat {
  var status = stat()
  try check { unsafe fstat(descriptor, &status) }
  return status
}

/// Returns whether the path names the open file, or throws `ENOENT` if it names no file.
func isNamed(_ path: String, _ descriptor: Int32) throws(JournalFailure) -> Bool {
  var named = stat()
  let file = try status(of: descriptor)
  do throws(JournalFailure) {
    try check { unsafe stat(path, &named) }
  } catch {
    // A program that gave up its privileges may be unable to search the folder.
    guard error == .file(.EACCES) else { throw error }
    return file.st_nlink > 0
  }
  return named.st_dev == file.st_dev && named.st_ino == file.st_ino
}

func write(_ bytes: [UInt8], to descriptor: Int32) throws(JournalFailure) {
  var done = 0
  while done < bytes.count {
    done += try check {
      unsafe bytes.withUnsafeBytes { bytes in
        let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[done...])
        return unsafe write(descriptor, rest.baseAddress, rest.count)
      }
    }
  }
}

/// Reads `count` bytes, or fewer at the end of the file.
func read(_ descriptor: Int32, at offset: Int, upTo count: Int, appendingTo bytes: inout [UInt8])
  throws(JournalFailure)
{
  let start = bytes.count
  bytes += [UInt8](repeating: 0, count: count)
  var done = 0
  while done < count {
    let more = try check {
      unsafe bytes.withUnsafeMutableBytes { bytes in
        let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[(start + done)...])
        return unsafe pread(descriptor, rest.baseAddress, rest.count, off_t(offset + done))
      }
    }
    if more == 0 { break }
    done += more
  }
  bytes.removeLast(count - done)
}

func synchronize(_ descriptor: Int32) throws(JournalFailure) {
  #if canImport(Darwin)
    // On Darwin, `fsync` stops at the disk's cache. Some file systems refuse `F_FULLFSYNC`.
    if fcntl(descriptor, F_FULLFSYNC) == 0 { return }
  #endif
  #if canImport(Darwin)
    try check { fsync(descriptor) }
  #else
    try check { fdatasync(descriptor) }
  #endif
}

/// Makes the name of a new file durable, which its folder contains.
func synchronizeFolder(of path: String) throws(JournalFailure) {
  // A symbolic link may have created the file in another folder.
  let file = URL(filePath: path).resolvingSymlinksInPath()
  let path = file.deletingLastPathComponent().path(percentEncoded: false)
  let folder = try check { unsafe open(path, O_RDONLY | O_CLOEXEC) }
  defer { close(folder) }
  // Some file systems cannot synchronize a folder, and return `EINVAL`.
  if fsync(folder) != 0, errno != EINVAL { throw .file(POSIXErrorCode(rawValue: errno) ?? .EIO) }
}
