#if NATS
internal import MiniRex
#if os(Linux)
// `dup3` and the list of descriptors in `/proc/self/fd` are Linux's.
internal import CNATS
internal import Glibc

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Gives the socket of an attempt to libnats, which accepts no connected socket.
///
/// libnats 3.4 reads the first `PONG` without a deadline, and its socket is private until then.
/// Here libnats connects to a listener of this process, which repeats the server's `INFO`. Before
/// libnats sends, `install` replaces its socket by the attempt's with `dup3`. Both descriptors
/// refer to one socket, so the end of the attempt also shuts it down in libnats.
///
/// The connecting thread calls `run`, and in it `install`. Another thread answers.
final class SocketHandover: Sendable {
  private struct State: Sendable {
    /// Our end of the connection of libnats to the listener.
    var client: Descriptor?
    /// The descriptor of libnats for its end.
    var target: Int32 = -1
  }

  private let server: Descriptor
  private let listener: Descriptor
  private let attempt: ConnectAttempt
  private let state = Lock(State())

  /// - Parameter line: The first line of the server.
  init(
    _ server: Descriptor, repeating line: [UInt8], in attempt: ConnectAttempt
  ) throws(NATSError) {
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    guard let listener = Descriptor(socket(AF_INET, kind, 0)),
      withSockaddr(&address, { bind(listener.number, $0, $1) }) == 0,
      listen(listener.number, 8) == 0
    else { throw .other(code: Int(errno), message: "The system has no socket to listen on.") }
    (self.server, self.listener, self.attempt) = (server, listener, attempt)
    try attempt.add(listener)
    let hasStarted = startThread { [self] in
      try? answer(with: line + [0x0D, 0x0A])
      // Without an answer, libnats would wait.
      shutdown(listener.number, Int32(SHUT_RDWR))
    }
    if !hasStarted {
      throw .other(code: 0, message: "The system has no thread available to connect on.")
    }
  }

  /// The URL of the listener.
  var url: String {
    "nats://127.0.0.1:\(UInt16(bigEndian: localAddress(of: listener.number)?.sin_port ?? 0))"
  }

  /// Runs `connect`, with this handover for the callbacks of libnats on this thread.
  func run<Result>(_ connect: () -> Result) -> Result {
    HandshakeObserver.current = self
    defer {
      HandshakeObserver.current = nil
      // libnats may have failed before it connects.
      shutdown(listener.number, Int32(SHUT_RDWR))
    }
    return connect()
  }

  /// Sends the line to the connection of libnats.
  ///
  /// Another process may connect first, and gets nothing.
  private func answer(with line: [UInt8]) throws(NATSError) {
    while true {
      _ = try attempt.wait(for: POLLIN, on: listener)
      let client = Descriptor(
        accept4(
          listener.number, nil, nil, Int32(SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)))
      guard let client else {
        if errno == EAGAIN || errno == EINTR || errno == ECONNABORTED { continue }
        return
      }
      guard let target = ownDescriptor(connectedTo: client.number) else { continue }
      try attempt.add(client)
      state.withLock { $0 = State(client: client, target: target) }
      // The buffer of a new socket has room for the line.
      _ = send(client.number, line, line.count, Int32(MSG_NOSIGNAL))
      return
    }
  }

  /// Replaces the socket of libnats by the server's, once.
  ///
  /// libnats has read the line. It does not use the socket during the exchange.
  func install() {
    let (client, target) = state.withLock { state in
      defer { state = State() }
      return (state.client, state.target)
    }
    guard let client else { return }
    // The mode belongs to the socket. TLS blocks.
    _ = fcntl(server.number, F_SETFL, fcntl(target, F_GETFL))
    while dup3(server.number, target, O_CLOEXEC) < 0 {
      if errno == EBUSY || errno == EINTR { continue }
      shutdown(client.number, Int32(SHUT_RDWR))
      return
    }
    attempt.remove(client)
  }
}

/// Returns the descriptor of this process at the other end of a local connection.
private func ownDescriptor(connectedTo client: Int32) -> Int32? {
  guard let local = localAddress(of: client), let remote = remoteAddress(of: client) else {
    return nil
  }
  let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
  return names.lazy.compactMap { Int32($0) }.first { number in
    localAddress(of: number).map { isSame($0, remote) } == true
      && remoteAddress(of: number).map { isSame($0, local) } == true
  }
}

private func localAddress(of socket: Int32) -> sockaddr_in? {
  address { getsockname(socket, $0, &$1) }
}

private func remoteAddress(of socket: Int32) -> sockaddr_in? {
  address { getpeername(socket, $0, &$1) }
}

private func address(
  _ read: (UnsafeMutablePointer<sockaddr>, inout socklen_t) -> Int32
) -> sockaddr_in? {
  var address = sockaddr_in()
  let result = withSockaddr(&address) { pointer, size in
    var size = size
    return read(pointer, &size)
  }
  return result == 0 && address.sin_family == sa_family_t(AF_INET) ? address : nil
}

private func isSame(_ a: sockaddr_in, _ b: sockaddr_in) -> Bool {
  a.sin_port == b.sin_port && a.sin_addr.s_addr == b.sin_addr.s_addr
}

private func withSockaddr<Result>(
  _ address: inout sockaddr_in, _ body: (UnsafeMutablePointer<sockaddr>, socklen_t) -> Result
) -> Result {
  withUnsafeMutablePointer(to: &address) { pointer in
    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
    }
  }
}
#endif
#endif
