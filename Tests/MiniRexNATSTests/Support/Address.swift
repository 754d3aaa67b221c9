#if NATS
import Foundation
import TestSupport

/// An address to listen at that no other test has, in this process or in another.
///
/// With one host for all tests, another test could take a free port before this one listens there,
/// or while a server is stopped. So each address has a separate host number.
struct Address: Sendable {
  let host: String
  let port: Int

  private static let count = Shared(0)

  init() throws {
    let number = Self.count.increment() % 254 + 1
    let process = getpid()
    host = "127.\(process >> 8 & 0xFF).\(process & 0xFF).\(number)"
    (_, port) = try Socket.bound(to: host)
  }

  /// Creates the address of an existing listener.
  init(host: String, port: Int) { (self.host, self.port) = (host, port) }

  var url: String { "nats://\(host):\(port)" }

  /// A Boolean value that indicates whether a process listens there.
  var isTaken: Bool { (try? Socket.connected(to: self)) != nil }
}

/// A socket that closes when it is released.
///
/// Child processes do not inherit it.
final class Socket: Sendable {
  let descriptor: Int32

  init() throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    if descriptor < 0 { throw POSIXError(.EMFILE) }
  }

  init(_ descriptor: Int32) { self.descriptor = descriptor }

  deinit { close(descriptor) }

  static func connected(to address: Address) throws -> Socket {
    let socket = try Socket()
    try unsafe withAddress(address.host, address.port) { pointer, size in
      if unsafe connect(socket.descriptor, pointer, size) != 0 { throw POSIXError(.ECONNREFUSED) }
    }
    return socket
  }

  static func listening(backlog: Int32 = 16) throws -> (Socket, Address) {
    let (socket, port) = try bound(to: "127.0.0.1")
    if listen(socket.descriptor, backlog) != 0 { throw POSIXError(.EADDRINUSE) }
    return (socket, Address(host: "127.0.0.1", port: port))
  }

  /// Calls the closure with each accepted connection, on a new thread, until the socket is shut down.
  func acceptAll(_ take: @escaping @Sendable (Socket) -> Void) {
    Thread.detachNewThread { [self] in
      while true {
        let client = accept(descriptor, nil, nil)
        if client < 0 { return }
        _ = fcntl(client, F_SETFD, FD_CLOEXEC)
        take(Socket(client))
      }
    }
  }

  fileprivate static func bound(to host: String) throws -> (Socket, Int) {
    let socket = try Socket()
    let port = try unsafe withAddress(host, 0) { pointer, size in
      var size = size
      if unsafe bind(socket.descriptor, pointer, size) != 0
        || getsockname(socket.descriptor, pointer, &size) != 0
      {
        throw POSIXError(.EADDRINUSE)
      }
      return unsafe pointer.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
        unsafe Int(in_port_t(bigEndian: $0.pointee.sin_port))
      }
    }
    return (socket, port)
  }
}

private func withAddress<Result>(
  _ host: String, _ port: Int, _ body: (UnsafeMutablePointer<sockaddr>, socklen_t) throws -> Result
) rethrows -> Result {
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_port = in_port_t(port).bigEndian
  unsafe inet_pton(AF_INET, host, &address.sin_addr)
  return try unsafe withUnsafeMutablePointer(to: &address) { pointer in
    try unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      try unsafe body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
    }
  }
}
#endif
