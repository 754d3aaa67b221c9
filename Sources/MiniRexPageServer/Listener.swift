import Foundation

/// Accepts connections to an address of this machine.
struct Listener: Sendable {
  enum Arrival: Sendable {
    case connection(Socket)
    case none
    /// The process or the system has no descriptors left.
    case outOfDescriptors
  }

  /// The address that only this machine can reach.
  static let loopback = "127.0.0.1"

  let port: UInt16
  let hosts: Hosts
  let socket: Socket

  /// Creates a listener, or returns `nil` with the reason in `errno`.
  init?(port: UInt16, address text: String) {
    var address = sockaddr_in()
    // A zero byte would hide the rest of the text from the system.
    guard !text.utf8.contains(0), unsafe inet_pton(AF_INET, text, &address.sin_addr) == 1 else {
      errno = EADDRNOTAVAIL
      return nil
    }
    hosts = text.hasPrefix("127.") ? .thisMachine : .numbers
    let descriptor = makeSocket()
    if descriptor < 0 { return nil }
    socket = Socket(descriptor)
    // If a connection breaks before it is accepted, `accept` must not block.
    _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    // Allow the port of a process that has just exited.
    socket.set(SO_REUSEADDR, to: 1)
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    let isListening = unsafe withUnsafeMutableBytes(of: &address) { bytes in
      let address = unsafe bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self)
      return unsafe bind(descriptor, address, size) == 0 && listen(descriptor, SOMAXCONN) == 0
        && getsockname(descriptor, address, &size) == 0
    }
    let failure = errno
    self.port = UInt16(bigEndian: address.sin_port)
    if !isListening {
      errno = failure
      return nil
    }
  }

  /// Refuses connections from now on.
  func close() { shutdown(socket.descriptor, Int32(SHUT_RDWR)) }

  func accept() -> Arrival {
    while true {
      let descriptor = acceptConnection(socket.descriptor)
      if descriptor >= 0 { return .connection(Socket(descriptor)) }
      switch errno {
      case EAGAIN, EWOULDBLOCK: return .none
      // The peer has disconnected, or the network failed for this connection alone.
      case EINTR, ECONNABORTED, EPROTO, ENETDOWN, EHOSTUNREACH, ENETUNREACH: continue
      default: return .outOfDescriptors
      }
    }
  }
}

// Inside the types above, members shadow these system calls.
private func makeSocket() -> Int32 { socket(AF_INET, Socket.streamType, 0) }

private func acceptConnection(_ listener: Int32) -> Int32 { accept(listener, nil, nil) }
