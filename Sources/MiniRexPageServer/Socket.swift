import Foundation
import MiniRex

/// A descriptor, which is closed when nobody uses it any more.
///
/// Writing to a browser that has gone is an error, and no signal: what else the program does with
/// `SIGPIPE` is its own affair.
final class Socket: Sendable {
  let descriptor: Int32

  init(_ descriptor: Int32) {
    self.descriptor = descriptor
    // No child of the program holds a connection open.
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    #if canImport(Darwin)
      set(SO_NOSIGPIPE, to: 1)
    #endif
  }

  deinit { close(descriptor) }

  func set(_ option: Int32, to value: Int32) {
    var value = value
    unsafe setsockopt(descriptor, SOL_SOCKET, option, &value, socklen_t(MemoryLayout<Int32>.size))
  }

  /// Writes all of it, or finds that nobody reads.
  func write(_ data: Data, finish: @escaping @Sendable (Bool) -> Void) -> Subscription {
    // Any thread may cancel a source, but its type does not say so.
    nonisolated(unsafe) let source = DispatchSource.makeWriteSource(fileDescriptor: descriptor)
    let rest = SerialState(data[...])
    unsafe source.setEventHandler { [self] in
      while !rest.value.isEmpty {
        let count = send(rest.value)
        if count > 0 {
          rest.value = rest.value.dropFirst(count)
        } else if count < 0, errno == EINTR {
          continue
        } else if count < 0, errno == EAGAIN || errno == EWOULDBLOCK {
          return
        } else {
          break
        }
      }
      unsafe source.cancel()
      finish(rest.value.isEmpty)
    }
    // Nothing else may get the number of the descriptor before that.
    unsafe source.setCancelHandler { [self] in withExtendedLifetime(self) {} }
    unsafe source.activate()
    return Subscription { unsafe source.cancel() }
  }

  /// Writes what fits into the buffer of a new connection.
  func sendAtOnce(_ data: Data) { _ = send(data) }

  private func send(_ data: Data) -> Int {
    #if canImport(Darwin)
      let flags = Int32(MSG_DONTWAIT)
    #else
      let flags = Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)
    #endif
    return unsafe data.withUnsafeBytes {
      #if canImport(Darwin)
        unsafe Darwin.send(descriptor, $0.baseAddress, $0.count, flags)
      #else
        unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, flags)
      #endif
    }
  }
}
