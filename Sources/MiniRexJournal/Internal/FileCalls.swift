internal import CLibrary

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Calls into the system, which a signal may interrupt.
@discardableResult
func check<Number: SignedInteger>(_ call: () -> Number) throws(JournalFailure) -> Number {
  while true {
    let result = call()
    if result >= 0 { return result }
    let code = errno
    if code != EINTR { throw .file(POSIXErrorCode(rawValue: code) ?? .EIO) }
  }
}

/// - Returns: The descriptor, and whether the file was made.
func openFile(_ path: String) throws(JournalFailure) -> (Int32, isNew: Bool) {
  let flags = O_RDWR | O_APPEND | O_CLOEXEC | O_NONBLOCK
  do throws(JournalFailure) {
    return (try check { unsafe open(path, flags | O_CREAT | O_EXCL, 0o666) }, true)
  } catch {
    guard error == .file(.EEXIST) else { throw error }
  }
  let descriptor = try check { unsafe open(path, flags | O_CREAT, 0o666) }
  var status = stat()
  let isFile = unsafe fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
  if isFile { return (descriptor, false) }
  close(descriptor)
  // What a pipe, a terminal or `/dev/null` is given cannot be read again.
  throw .file(.EINVAL)
}

/// No second process, and no second journal of this one, has the file at the same time.
func lockFile(_ descriptor: Int32) throws(JournalFailure) {
  do throws(JournalFailure) {
    try check { flock(descriptor, LOCK_EX | LOCK_NB) }
  } catch {
    throw error == .file(.EWOULDBLOCK) ? .inUse : error
  }
}

/// Gives the lock back by itself: a program that is being started keeps a copy of each descriptor, and with it
/// the lock, until it has begun.
func unlockAndClose(_ descriptor: Int32) {
  flock(descriptor, LOCK_UN)
  close(descriptor)
}

func size(of descriptor: Int32) throws(JournalFailure) -> Int {
  var status = stat()
  try check { unsafe fstat(descriptor, &status) }
  return Int(status.st_size)
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

/// Reads so many bytes, or fewer at the end of the file.
func read(_ descriptor: Int32, at offset: Int, upTo count: Int, appendingTo bytes: inout [UInt8])
  throws(JournalFailure)
{
  let start = bytes.count
  bytes.append(contentsOf: repeatElement(0, count: count))
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

func synchronise(_ descriptor: Int32) throws(JournalFailure) {
  #if canImport(Darwin)
    // There, `fsync` leaves the bytes with the disk's own memory. Not all file systems know better.
    if fcntl(descriptor, F_FULLFSYNC) == 0 { return }
  #endif
  try check { fsync(descriptor) }
}

/// The name of a new file is a line of its folder.
func synchroniseFolder(of url: URL) throws(JournalFailure) {
  let path = url.deletingLastPathComponent().path(percentEncoded: false)
  let folder = try check { unsafe open(path, O_RDONLY | O_CLOEXEC) }
  defer { close(folder) }
  // Some file systems bring folders to the disk by themselves, and refuse to be told.
  if fsync(folder) != 0, errno != EINVAL { throw .file(POSIXErrorCode(rawValue: errno) ?? .EIO) }
}
