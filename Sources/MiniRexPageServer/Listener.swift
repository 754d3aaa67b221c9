import Foundation
import MiniRex

/// Takes connections to an address of this machine.
struct Listener: Sendable {
  /// Reached from this machine alone.
  static let loopback = "127.0.0.1"

  let port: UInt16
  let hosts: Hosts
  private let waiting: Socket

  /// `nil` if it cannot have the port; `errno` says why.
  init?(port: UInt16, address text: String) {
    var address = sockaddr_in()
    guard unsafe inet_pton(AF_INET, text, &address.sin_addr) == 1 else {
      errno = EADDRNOTAVAIL
      return nil
    }
    hosts = text.hasPrefix("127.") ? .thisMachine : .numbers
    // SOCK_STREAM, which has another type on each platform.
    let descriptor = socket(AF_INET, 1, 0)
    if descriptor < 0 { return nil }
    waiting = Socket(descriptor)
    // A port that somebody has just left is free.
    waiting.set(SO_REUSEADDR, to: 1)
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

  /// Calls with each connection.
  var connections: Broadcaster<Socket> {
    Broadcaster { [waiting] receive in
      // Any thread may cancel a source, but its type does not say so.
      nonisolated(unsafe) let source = DispatchSource.makeReadSource(
        fileDescriptor: waiting.descriptor)
      unsafe source.setEventHandler {
        let connection = accept(waiting.descriptor, nil, nil)
        // Too many files are open, and a thread of Dispatch may wait until one is closed.
        if connection < 0 { usleep(10_000) } else { receive(Socket(connection)) }
      }
      // Nothing else may get the number of the descriptor before that.
      unsafe source.setCancelHandler { withExtendedLifetime(waiting) {} }
      unsafe source.activate()
      return Subscription { unsafe source.cancel() }
    }
  }
}

/// By which names a browser may call the server; pages of others that have a name lead to it are refused.
enum Hosts: Sendable {
  case thisMachine
  /// Also by any number: a name could lead anywhere, and a number leads where it says.
  case numbers

  func contains(_ host: String) -> Bool {
    if host.wholeMatch(of: /(?:localhost|127\.0\.0\.1)(?::\d+)?/.ignoresCase()) != nil {
      return true
    }
    return switch self {
    case .thisMachine: false
    case .numbers: host.wholeMatch(of: /\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?/) != nil
    }
  }
}
