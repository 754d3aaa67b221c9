import Foundation
import MiniRex
import MiniRexFoundationAdapters

/// An open file, which stays readable after it is renamed or removed.
final class OpenFile: Sendable {
  let descriptor: Int32
  private let watching = SubscriptionBag()

  /// Opens a file, or returns `nil` with the reason in `errno`.
  init?(_ path: String) {
    // Opening a pipe without a writer must not block.
    let descriptor = unsafe open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    if descriptor < 0 { return nil }
    self.descriptor = descriptor
  }

  deinit { close(descriptor) }

  /// The URL of this file, which does not depend on its name.
  var url: URL { URL(filePath: "/dev/fd/\(descriptor)") }

  var size: Int { Int(status.st_size) }

  var isPipe: Bool { status.st_mode & S_IFMT == S_IFIFO }

  var isRegular: Bool { status.st_mode & S_IFMT == S_IFREG }

  /// The device and inode, which identify the file among all open files.
  var identity: [UInt64] {
    let status = status
    return [UInt64(status.st_dev), UInt64(status.st_ino)]
  }

  func has(_ path: String) -> Bool {
    let status = status
    var named = stat()
    return unsafe stat(path, &named) == 0
      && (status.st_dev, status.st_ino) == (named.st_dev, named.st_ino)
  }

  /// Starts sending a hint for each change of the file.
  func watch(_ tail: Tail) {
    if watching.count > 0 || !isRegular { return }
    url.changes().subscribe { _ in
      tail.hint()
    } onEnd: { [weak self] in
      // The writer may continue in a removed file, which is watched by its descriptor now.
      guard let self else { return }
      url.changes().subscribe { _ in tail.hint() }.store(in: watching)
      tail.hint()
    }.store(in: watching)
  }

  /// Returns the next bytes of a pipe: empty if the pipe has no writer, or `nil` if it is empty.
  func readPipe() throws(POSIXError) -> Data? {
    do throws(POSIXError) {
      return try unsafe bytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
    } catch {
      if error.code == .EAGAIN { return nil }
      throw error
    }
  }

  /// Returns the bytes after a place, or `nil` if the file was truncated.
  ///
  /// The size cannot reveal a truncation, because the file may have grown again. So the function
  /// reads the bytes before the place both before and after the new bytes. If both match the mark,
  /// the new bytes belong to the same content.
  func bytes(after place: Place) throws(POSIXError) -> Data? {
    let start = place.offset - place.mark.count
    let bytes = try unsafe bytes { unsafe pread(descriptor, $0.baseAddress, $0.count, start) }
    let again = try unsafe self.bytes(Place.markSize) {
      unsafe pread(descriptor, $0.baseAddress, $0.count, start)
    }
    let isSame = bytes.starts(with: place.mark) && again.starts(with: bytes.prefix(Place.markSize))
    return isSame ? bytes.dropFirst(place.mark.count) : nil
  }

  private func bytes(
    _ limit: Int = 1 << 18, read: (UnsafeMutableRawBufferPointer) -> Int
  ) throws(POSIXError) -> Data {
    var bytes = Data(count: limit)
    let count = unsafe bytes.withUnsafeMutableBytes { unsafe read($0) }
    if count < 0 { throw .last }
    return bytes.prefix(count)
  }

  private var status: stat {
    var status = stat()
    unsafe fstat(descriptor, &status)
    return status
  }
}

/// A position in a file.
struct Place {
  fileprivate static let markSize = 256

  private(set) var offset = 0
  /// The last bytes before the position, which identify the file's content.
  fileprivate private(set) var mark = Data()

  mutating func move(over bytes: Data) {
    offset += bytes.count
    mark = (mark + bytes.suffix(Self.markSize)).suffix(Self.markSize)
  }
}

extension POSIXError {
  /// The error of the last system call.
  static var last: POSIXError { POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }

  /// Created once, because it is frequent during a rotation.
  static let missing = POSIXError(.ENOENT)
}
