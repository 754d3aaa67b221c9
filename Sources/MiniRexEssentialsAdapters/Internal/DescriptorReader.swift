internal import CLibrary

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// Reads the available bytes of a descriptor, without blocking and without side effects on other
/// users of the descriptor.
package struct DescriptorReader: Sendable {
  /// - own: a separate file description in nonblocking mode.
  /// - file: reads never block.
  /// - socket: each read is nonblocking by a flag.
  /// - datagrams: like socket, and an empty read is not the end.
  /// - other: each read is nonblocking by a flag where the system supports it. Elsewhere, the check
  ///   and the read are two steps, and two readers of one descriptor may block each other.
  fileprivate enum Way {
    case own(Descriptor)
    case file, socket, datagrams, other
  }

  /// Becomes readable when bytes are available.
  let descriptor: Descriptor
  private let way: Way

  /// Creates a reader of a shared descriptor, through a duplicate.
  init(sharing number: Int32) throws(POSIXError) {
    descriptor = try Descriptor(duplicating: number)
    // Reopening a write-only descriptor would make it readable.
    if fcntl(number, F_GETFL) & O_ACCMODE == O_WRONLY { throw POSIXError(.EBADF) }
    way = Way(of: descriptor.number)
  }

  /// - Parameter descriptor: A descriptor that this reader owns, in nonblocking mode.
  package init(owning descriptor: Descriptor) {
    self.descriptor = descriptor
    way = .own(descriptor)
  }

  /// Returns `nil` if no bytes are available, and empty data at the end.
  package func read(upTo limit: Int) throws(POSIXError) -> Data? {
    var piece = Data(count: limit)
    while true {
      let count = unsafe piece.withUnsafeMutableBytes { unsafe read(into: $0) }
      if count == 0, case .datagrams = way { return nil }
      if count >= 0 { return piece.prefix(count) }
      switch errno {
      case EINTR: continue
      case EAGAIN: return nil
      default: throw .last
      }
    }
  }

  private func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
    let (start, size) = (buffer.baseAddress, buffer.count)
    switch way {
    case .own(let own): return unsafe CLibrary.read(own.number, start, size)
    case .file: return unsafe CLibrary.read(descriptor.number, start, size)
    case .socket, .datagrams:
      return unsafe recv(descriptor.number, start, size, Int32(MSG_DONTWAIT))
    case .other: break
    }
    #if !canImport(Darwin)
    if let preadv2 = unsafe SystemCall.preadv2 {
      var vector = unsafe iovec(iov_base: start, iov_len: size)
      let count = unsafe preadv2(descriptor.number, &vector, 1, -1, SystemCall.withoutWaiting)
      if count >= 0 || errno != EOPNOTSUPP && errno != ENOSYS { return count }
    }
    #endif
    var request = pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0)
    if unsafe poll(&request, 1, 0) == 0 {
      errno = EAGAIN
      return -1
    }
    return unsafe CLibrary.read(descriptor.number, start, size)
  }
}

/// The device 5:2.
///
/// Each open of it creates another terminal.
private let ptmx: dev_t = 0x502

extension DescriptorReader.Way {
  fileprivate init(of number: Int32) {
    var status = stat()
    unsafe fstat(number, &status)
    switch status.st_mode & S_IFMT {
    case S_IFREG, S_IFDIR, S_IFBLK: self = .file
    case S_IFSOCK: self = Self.isOfDatagrams(number) ? .datagrams : .socket
    case S_IFIFO: self = .reopened(number)
    case S_IFCHR where isatty(number) == 1 && status.st_rdev != ptmx: self = .reopened(number)
    default: self = .other
    }
  }

  private static func isOfDatagrams(_ number: Int32) -> Bool {
    var (type, size): (Int32, socklen_t) = (0, socklen_t(MemoryLayout<Int32>.size))
    unsafe getsockopt(number, SOL_SOCKET, SO_TYPE, &type, &size)
    #if canImport(Glibc)
    return type == Int32(SOCK_DGRAM.rawValue)
    #else
    return type == SOCK_DGRAM
    #endif
  }

  /// Linux reopens the file of a descriptor, unless the process has lost the permission.
  ///
  /// Other systems would return a duplicate.
  private static func reopened(_ number: Int32) -> Self {
    #if !canImport(Darwin)
    let path = Descriptor.pathOfOpenFile(number)
    if let own = try? Descriptor(opening: path, O_RDONLY | O_NONBLOCK | O_NOCTTY) {
      return .own(own)
    }
    #endif
    return .other
  }
}
