import Foundation
import MiniRex

/// Takes connections from this machine, and from no other.
struct Listener: Sendable {
  let port: UInt16
  private let descriptor: Int32

  /// `nil` if it cannot have the port; `errno` says why.
  init?(port: UInt16) {
    // SOCK_STREAM, which has another type on each platform.
    let descriptor = socket(AF_INET, 1, 0)
    // A port that somebody has just left is free.
    var (yes, size) = (Int32(1), socklen_t(MemoryLayout<sockaddr_in>.size))
    unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, 4)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let isListening = unsafe withUnsafeMutableBytes(of: &address) { bytes in
      let address = unsafe bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self)
      return unsafe bind(descriptor, address, size) == 0 && listen(descriptor, SOMAXCONN) == 0
        && getsockname(descriptor, address, &size) == 0
    }
    if !isListening { return nil }
    self.descriptor = descriptor
    self.port = UInt16(bigEndian: address.sin_port)
  }

  /// Calls with the descriptor of each connection.
  var connections: Broadcaster<Int32> {
    Broadcaster { [descriptor] receive in
      // Any thread may cancel a source, but its type does not say so.
      nonisolated(unsafe) let source = DispatchSource.makeReadSource(fileDescriptor: descriptor)
      unsafe source.setEventHandler {
        let connection = accept(descriptor, nil, nil)
        // Too many files are open, and a thread of Dispatch may wait until one is closed.
        if connection < 0 { usleep(10_000) } else { receive(connection) }
      }
      unsafe source.activate()
      return Subscription { unsafe source.cancel() }
    }
  }
}
