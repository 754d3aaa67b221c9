import Foundation

/// A file that is open for reading, and how far it has been read.
final class OpenFile {
  /// True for what is not kept on a disk: pipes, terminals, sockets.
  let isStream: Bool

  private let descriptor: Int32
  private let opened: stat
  private var offset = 0

  /// - Parameter path: `-` is standard input.
  init(_ path: String) throws(SystemError) {
    // A pipe that nobody writes to must not stop the program here.
    descriptor = path == "-" ? STDIN_FILENO : unsafe open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    if descriptor < 0 { throw SystemError() }
    var status = stat()
    unsafe fstat(descriptor, &status)
    opened = status
    isStream = path == "-" || status.st_mode & S_IFMT != S_IFREG
    if status.st_mode & S_IFMT == S_IFDIR { throw SystemError(code: EISDIR) }
  }

  deinit {
    // Standard input may be named twice, and its number must not go to another file.
    if descriptor != STDIN_FILENO { close(descriptor) }
  }

  /// The next bytes; none at the end; `nil` if a stream has none for now.
  func read(_ buffer: inout [UInt8]) throws(SystemError) -> ArraySlice<UInt8>? {
    if isStream {
      var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      if unsafe Foundation.poll(&poll, 1, 100) <= 0 { return nil }
    }
    let count = unsafe buffer.withUnsafeMutableBytes {
      unsafe Foundation.read(descriptor, $0.baseAddress, $0.count)
    }
    if count < 0, errno == EINTR || errno == EAGAIN { return nil }
    if count < 0 { throw SystemError() }
    offset += count
    return buffer[..<count]
  }

  var size: Int {
    var status = stat()
    return unsafe fstat(descriptor, &status) == 0 ? status.st_size : 0
  }

  var isTruncated: Bool { size < offset }

  /// Goes back to the beginning.
  func rewind() {
    offset = lseek(descriptor, 0, SEEK_SET)
  }

  /// True if another file has this name now; false if none has.
  func isReplaced(at path: String) -> Bool {
    if isStream { return false }
    var status = stat()
    if unsafe stat(path, &status) != 0 { return false }
    return (status.st_dev, status.st_ino) != (opened.st_dev, opened.st_ino)
  }
}

/// Why the system has refused something.
struct SystemError: Error, Equatable, CustomStringConvertible {
  var code = errno

  var isMissingFile: Bool { code == ENOENT }

  var description: String { unsafe String(cString: strerror(code)) }
}
