import Foundation

/// A nonblocking socket, closed when its last reference is released.
///
/// Writing to a peer that has disconnected fails without `SIGPIPE`, whose handler is the program's.
final class Socket: Sendable {
  enum Received: Sendable {
    case bytes([UInt8])
    case nothingYet
    /// The peer has closed its output, or the connection is broken.
    case end
  }

  let descriptor: Int32

  init(_ descriptor: Int32) {
    self.descriptor = descriptor
    // Child processes must not keep connections open.
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    #if canImport(Darwin)
    set(SO_NOSIGPIPE, to: 1)
    #endif
  }

  deinit { close(descriptor) }

  /// Returns two connected sockets, or `nil` with the reason in `errno`.
  static func pair() -> (Socket, Socket)? {
    var numbers: [Int32] = [-1, -1]
    guard unsafe socketpair(AF_UNIX, streamType, 0, &numbers) == 0 else { return nil }
    return (Socket(numbers[0]), Socket(numbers[1]))
  }

  /// `SOCK_STREAM`, which is an enumeration on Linux.
  static let streamType: Int32 = 1

  func set(_ option: Int32, to value: Int32) {
    var value = value
    unsafe setsockopt(descriptor, SOL_SOCKET, option, &value, socklen_t(MemoryLayout<Int32>.size))
  }

  func receive() -> Received {
    var end = false
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: 16 << 10) { buffer, count in
      var result = 0
      repeat {
        result = unsafe recv(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
      } while result < 0 && errno == EINTR
      end = result == 0 || result < 0 && errno != EAGAIN && errno != EWOULDBLOCK
      count = max(0, result)
    }
    if end { return .end }
    return bytes.isEmpty ? .nothingYet : .bytes(bytes)
  }

  /// Returns the number of bytes that the system accepted, or `nil` if the peer has disconnected.
  func send(_ bytes: ArraySlice<UInt8>) -> Int? {
    var result = 0
    repeat {
      result = unsafe bytes.withUnsafeBytes { unsafe sendBytes($0, descriptor) }
    } while result < 0 && errno == EINTR
    if result < 0 { return errno == EAGAIN || errno == EWOULDBLOCK ? 0 : nil }
    return result
  }

  /// Closes the output.
  ///
  /// Closing the socket instead would discard the output if unread input exists.
  func finish() { shutdown(descriptor, Int32(SHUT_WR)) }
}

// Inside the type above, a member shadows this system call.
private func sendBytes(_ bytes: UnsafeRawBufferPointer, _ descriptor: Int32) -> Int {
  #if canImport(Darwin)
  let flags = Int32(MSG_DONTWAIT)
  #else
  let flags = Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)
  #endif
  return unsafe send(descriptor, bytes.baseAddress, bytes.count, flags)
}
