import Foundation
import MiniRex
import MiniRexFoundationAdapters

/// A file that is open, so that it can be read whatever becomes of its name.
final class OpenFile: Sendable {
  let descriptor: Int32
  private let watching = SubscriptionBag()

  /// `nil` if it cannot be opened; `errno` says why.
  init?(_ path: String) {
    // A pipe that nobody writes to must not stop the program here.
    let descriptor = unsafe open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    if descriptor < 0 { return nil }
    self.descriptor = descriptor
  }

  deinit { close(descriptor) }

  /// Leads to this very file.
  var url: URL { URL(filePath: "/dev/fd/\(descriptor)") }

  var size: Int { Int(status.st_size) }

  var isPipe: Bool { status.st_mode & S_IFMT == S_IFIFO }

  var isRegular: Bool { status.st_mode & S_IFMT == S_IFREG }

  /// Tells it from all that are open, whatever their names.
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

  /// Hints from now on at its changes.
  func watch(_ tail: Tail) {
    if watching.count > 0 || !isRegular { return }
    url.changes().subscribe { _ in tail.hint() }.store(in: watching)
  }

  /// The next bytes of a pipe: none if nobody writes to it, `nil` if there are none yet.
  func readPipe() throws(POSIXError) -> Data? {
    do throws(POSIXError) {
      return try unsafe bytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
    } catch {
      if error.code == .EAGAIN { return nil }
      throw error
    }
  }

  /// The bytes that follow; `nil` if the file has been begun anew.
  ///
  /// Its size does not say so, since it may have grown again. So what stands before them is read
  /// with them, and once more after them: if that is still the same, nobody has truncated it
  /// meanwhile.
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

/// How far a file has been read.
struct Place {
  fileprivate static let markSize = 256

  private(set) var offset = 0
  /// The last bytes before that, by which it is found to be the same file still.
  fileprivate private(set) var mark = Data()

  mutating func move(over bytes: Data) {
    offset += bytes.count
    mark = (mark + bytes.suffix(Self.markSize)).suffix(Self.markSize)
  }
}

extension POSIXError {
  /// Why the last call of the system has failed.
  static var last: POSIXError { POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }

  /// Made once, since nothing is as frequent between two files of a name.
  static let missing = POSIXError(.ENOENT)
}
