#if NATS
internal import Glibc

/// The first two stages of an attempt, over a socket of the bridge.
extension ConnectAttempt {
  /// Connects to the first address of the server that accepts, in random order.
  ///
  /// The system's resolver decides how long the names take.
  func connect(to server: ServerAddress) throws(NATSError) -> Descriptor {
    let addresses = Self.addresses(of: server).shuffled()
    for (index, address) in addresses.enumerated() {
      let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
      guard let socket = Descriptor(Glibc.socket(address.family, kind, 0)) else {
        throw .other(code: Int(errno), message: "The system has no descriptor to connect with.")
      }
      try add(socket)
      let limit = max(10, rest / Int32(addresses.count - index))
      if try connect(socket, to: address, milliseconds: limit) {
        Self.setOptions(of: socket)
        return socket
      }
      remove(socket)
    }
    throw .noServer
  }

  private func connect(
    _ socket: Descriptor, to address: SocketAddress, milliseconds: Int32
  ) throws(NATSError) -> Bool {
    let result = address.withPointer { Glibc.connect(socket.number, $0, $1) }
    if result != 0, errno != EINPROGRESS { return false }
    do throws(NATSError) {
      guard try wait(for: POLLOUT, on: socket, milliseconds: milliseconds) else { return false }
    } catch {
      // The server was not reached.
      throw error == .timedOut ? .noServer : error
    }
    var (failure, size) = (Int32(0), socklen_t(MemoryLayout<Int32>.size))
    getsockopt(socket.number, SOL_SOCKET, SO_ERROR, &failure, &size)
    return failure == 0
  }

  /// Sets the options that libnats sets on its own sockets.
  private static func setOptions(of socket: Descriptor) {
    let size = socklen_t(MemoryLayout<Int32>.size)
    var yes: Int32 = 1
    setsockopt(socket.number, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, size)
    var lingers = linger(l_onoff: 1, l_linger: 0)
    setsockopt(
      socket.number, SOL_SOCKET, SO_LINGER, &lingers, socklen_t(MemoryLayout<linger>.size))
  }

  private static func addresses(of server: ServerAddress) -> [SocketAddress] {
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var list: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(server.host, "\(server.port)", &hints, &list) == 0 else { return [] }
    defer { freeaddrinfo(list) }
    return sequence(first: list, next: { $0?.pointee.ai_next }).compactMap { entry in
      guard let entry = entry?.pointee, let address = entry.ai_addr else { return nil }
      return SocketAddress(entry.ai_family, address, entry.ai_addrlen)
    }
  }

  /// Reads the first line of the server, `INFO`, without its end.
  ///
  /// Later bytes stay in the socket.
  func readLine(from socket: Descriptor) throws(NATSError) -> [UInt8] {
    // The buffer of libnats has 32 KiB.
    let limit = 32_000
    var line: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: limit)
    while line.count < limit {
      _ = try wait(for: POLLIN, on: socket)
      let count = recv(socket.number, &buffer, limit - line.count, Int32(MSG_PEEK))
      if count < 0, errno == EAGAIN || errno == EINTR { continue }
      if count <= 0 { throw error ?? .disconnected }
      let end = buffer[..<count].firstIndex(of: 0x0A)
      let taken = recv(socket.number, &buffer, end.map { $0 + 1 } ?? count, 0)
      line += buffer[..<max(0, taken)]
      if end == nil { continue }
      line.removeLast()
      if line.last == 0x0D { line.removeLast() }
      return line
    }
    throw .other(code: 0, message: "The first line of the server is too long.")
  }
}

/// An address as the system represents it.
private struct SocketAddress {
  let family: Int32
  private var storage = sockaddr_storage()
  private let size: socklen_t

  init(_ family: Int32, _ address: UnsafePointer<sockaddr>, _ size: socklen_t) {
    self.family = family
    self.size = min(size, socklen_t(MemoryLayout<sockaddr_storage>.size))
    memcpy(&storage, address, Int(self.size))
  }

  func withPointer<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
    withUnsafePointer(to: storage) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, size) }
    }
  }
}
#endif
