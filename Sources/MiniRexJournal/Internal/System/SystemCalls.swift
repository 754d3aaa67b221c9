package import CLibrary

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Repeats a system call that a signal interrupts, and throws its error.
@discardableResult
package func check<Number: SignedInteger>(_ call: () -> Number) throws(JournalFailure) -> Number {
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
func openFile(_ path: String) throws(JournalFailure) -> (
  JournalDescriptor, refusal: JournalFailure?
) {
  do throws(JournalFailure) {
    return (try openRegularFile(path, O_RDWR | O_CREAT), nil)
  } catch {
    guard [.file(.EROFS), .file(.EACCES), .file(.EPERM)].contains(error),
      let descriptor = try? openRegularFile(path, O_RDONLY)
    else { throw error }
    return (descriptor, error)
  }
}

/// Opens a regular file, from whose end on lines are appended.
package func openRegularFile(
  _ path: String, _ flags: Int32
) throws(JournalFailure) -> JournalDescriptor {
  // Without `O_NONBLOCK`, opening a pipe waits for its other end.
  let flags = flags | O_APPEND | O_CLOEXEC | O_NONBLOCK
  let descriptor = JournalDescriptor(try check { unsafe open(path, flags, 0o666) })
  if let status = try? fileStatus(of: descriptor.number), status.st_mode & S_IFMT == S_IFREG {
    return descriptor
  }
  // A pipe, a terminal, or `/dev/null` does not return the bytes that it was given.
  throw .file(.EINVAL)
}

/// Excludes a second journal in this process and in other processes.
///
/// Journals that can only read share the lock.
package func lockFile(_ descriptor: Int32, _ mode: Int32) throws(JournalFailure) {
  do throws(JournalFailure) {
    try check { flock(descriptor, mode | LOCK_NB) }
  } catch {
    throw error == .file(.EWOULDBLOCK) ? .inUse : error
  }
}

package func fileStatus(of descriptor: Int32) throws(JournalFailure) -> stat {
  var status = stat()
  try check { unsafe fstat(descriptor, &status) }
  return status
}

/// Returns whether the path names the open file, or throws `ENOENT` if it names no file.
package func isNamed(_ path: String, _ descriptor: Int32) throws(JournalFailure) -> Bool {
  var named = stat()
  let file = try fileStatus(of: descriptor)
  do throws(JournalFailure) {
    try check { unsafe stat(path, &named) }
  } catch {
    // A program that gave up its privileges may be unable to search the folder.
    guard error == .file(.EACCES) else { throw error }
    return file.st_nlink > 0
  }
  return named.st_dev == file.st_dev && named.st_ino == file.st_ino
}

/// Returns whether two descriptors are of the same file.
func isSame(_ one: Int32, _ other: Int32) throws(JournalFailure) -> Bool {
  let (one, other) = (try fileStatus(of: one), try fileStatus(of: other))
  return one.st_dev == other.st_dev && one.st_ino == other.st_ino
}

/// Appends the bytes, and counts them in `done`, even if it throws.
package func write(
  _ bytes: [UInt8], to descriptor: Int32, _ done: inout Int
) throws(JournalFailure) {
  while done < bytes.count {
    done += try check {
      unsafe bytes.withUnsafeBytes { bytes in
        let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[done...])
        return unsafe write(descriptor, rest.baseAddress, rest.count)
      }
    }
  }
}

/// Writes the bytes in place.
func overwrite(_ bytes: [UInt8], in descriptor: Int32, at offset: Int) throws(JournalFailure) {
  var done = 0
  while done < bytes.count {
    done += try check {
      unsafe bytes.withUnsafeBytes { bytes in
        let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[done...])
        return unsafe pwrite(descriptor, rest.baseAddress, rest.count, off_t(offset + done))
      }
    }
  }
}

/// Reads `count` bytes, or fewer at the end of the file.
package func read(
  _ descriptor: Int32, at offset: Int, upTo count: Int, appendingTo bytes: inout [UInt8]
) throws(JournalFailure) {
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

package func synchronize(_ descriptor: Int32) throws(JournalFailure) {
  #if canImport(Darwin)
  // On Darwin, `fsync` stops at the disk's cache. Some file systems refuse `F_FULLFSYNC`.
  if fcntl(descriptor, F_FULLFSYNC) == 0 { return }
  try check { fsync(descriptor) }
  #else
  try check { fdatasync(descriptor) }
  #endif
}

/// Makes the name of a new file durable, which its folder contains.
func synchronizeFolder(of path: String) throws(JournalFailure) {
  try synchronizeFolder(parentFolder(of: path))
}

/// Returns the folder of a file, or of the destination of a symbolic link.
func parentFolder(of path: String) -> String {
  // A symbolic link may have created the file in another folder.
  let file = URL(filePath: path).resolvingSymlinksInPath()
  return file.deletingLastPathComponent().path(percentEncoded: false)
}

func openFolder(_ path: String) throws(JournalFailure) -> JournalDescriptor {
  JournalDescriptor(try check { unsafe open(path, O_RDONLY | O_CLOEXEC) })
}

/// Creates a folder for files of the same users as another file.
///
/// - Returns: `false` if the folder exists.
@discardableResult
func makeFolder(_ path: String, beside file: JournalDescriptor) throws(JournalFailure) -> Bool {
  if !(try makeFolder(path)) { return false }
  do throws(JournalFailure) {
    try JournalAttributes(of: file).apply(toFolder: openFolder(path))
  } catch {
    unsafe rmdir(path)
    throw error
  }
  return true
}

/// - Parameter synchronize: Makes the open folder durable.
package func synchronizeFolder(
  _ path: String,
  with synchronize: (Int32) throws(JournalFailure) -> Void = { descriptor throws(JournalFailure) in
    try check { fsync(descriptor) }
  }
) throws(JournalFailure) {
  let folder = try openFolder(path)
  // An early release would close it.
  defer { withExtendedLifetime(folder) {} }
  do throws(JournalFailure) {
    try synchronize(folder.number)
  } catch {
    // Some file systems cannot synchronize a folder, and return `EINVAL`.
    if error != .file(.EINVAL) { throw error }
  }
}
