public import Foundation
import MiniRex

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// An HTTP server on the loopback interface, with one thread and one request per connection.
public final class LoopbackServer: Sendable {
  private struct State {
    var open: Set<Int32> = []
    var accepted = 0
    var isStopped = false
  }

  /// The port on which the server listens.
  public let port: UInt16
  private let listener: Int32
  private let state = Lock(State())
  private let threads = DispatchGroup()

  /// Starts a server that answers each connection on its own thread.
  public init(_ answer: @escaping @Sendable (LoopbackConnection) -> Void) throws {
    (listener, port) = try loopbackSocket()
    if listen(listener, 128) < 0 { throw POSIXError(.EADDRINUSE) }
    startThread { [self] in
      while true {
        let descriptor = accept(listener, nil, nil)
        let isStopped = state.withLock { state in
          if descriptor >= 0, !state.isStopped {
            state.open.insert(descriptor)
            state.accepted += 1
          }
          return state.isStopped
        }
        if isStopped {
          close(descriptor)
          return
        }
        if descriptor < 0 { continue }
        startThread { [self] in
          if let connection = LoopbackConnection(descriptor) { answer(connection) }
          shutdown(descriptor, Int32(SHUT_RDWR))
          _ = state.withLock { $0.open.remove(descriptor) }
          close(descriptor)
        }
      }
    }
  }

  /// The number of open connections.
  public var openConnections: Int { state.withLock { $0.open.count } }

  /// The number of accepted connections.
  public var acceptedConnections: Int { state.withLock { $0.accepted } }

  /// Returns the location of a path on this server.
  public func url(_ path: String = "/") -> URL { loopbackURL(port, path) }

  /// Returns a request that waits for ten minutes.
  public func request(_ path: String = "/", method: String = "GET") -> URLRequest {
    var request = URLRequest(url: url(path))
    // A busy machine may exceed the default of one minute. Linux ignores the interval in the initializer.
    request.timeoutInterval = 600
    request.httpMethod = method
    return request
  }

  /// Closes all connections, and waits up to 10 seconds for their threads.
  public func stop() {
    state.withLock { state in
      state.isStopped = true
      for descriptor in state.open { shutdown(descriptor, Int32(SHUT_RDWR)) }
    }
    // Wake the accepting thread.
    if let waker = try? loopbackSocket(connectedTo: port) { close(waker) }
    _ = threads.wait(timeout: .now() + 10)
    close(listener)
  }

  private func startThread(_ body: @escaping @Sendable () -> Void) {
    threads.enter()
    let thread = Thread { [threads] in
      body()
      threads.leave()
    }
    thread.stackSize = 1 << 18
    thread.start()
  }
}

/// A reserved port without a listener.
public final class DeafPort: Sendable {
  private let descriptor: Int32
  /// The location of the reserved port.
  public let url: URL

  /// Reserves a port.
  public init() throws {
    let (descriptor, port) = try loopbackSocket()
    self.descriptor = descriptor
    url = loopbackURL(port, "/")
  }

  deinit { close(descriptor) }
}

private func loopbackURL(_ port: UInt16, _ path: String) -> URL {
  guard let url = URL(string: "http://127.0.0.1:\(port)\(path)") else {
    fatalError("The path '\(path)' is not part of a URL.")
  }
  return url
}

/// Returns a socket bound to a free port.
private func loopbackSocket() throws -> (descriptor: Int32, port: UInt16) {
  let descriptor = try streamSocket()
  var address = loopbackAddress(0)
  let isBound = unsafe withAddress(&address) { unsafe bind(descriptor, $0, $1) }
  var length = socklen_t(MemoryLayout<sockaddr_in>.size)
  let isNamed = unsafe withAddress(&address) { address, _ in
    unsafe getsockname(descriptor, address, &length)
  }
  if isBound < 0 || isNamed < 0 { throw POSIXError(.EADDRINUSE) }
  return (descriptor, UInt16(bigEndian: address.sin_port))
}

private func loopbackSocket(connectedTo port: UInt16) throws -> Int32 {
  let descriptor = try streamSocket()
  var address = loopbackAddress(port)
  _ = unsafe withAddress(&address) { unsafe connect(descriptor, $0, $1) }
  return descriptor
}

func streamSocket() throws -> Int32 {
  #if canImport(Glibc)
  let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
  #else
  let descriptor = socket(AF_INET, SOCK_STREAM, 0)
  #endif
  if descriptor < 0 { throw POSIXError(.ENFILE) }
  return descriptor
}

func loopbackAddress(_ port: UInt16) -> sockaddr_in {
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_port = port.bigEndian
  address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
  return address
}

func withAddress(
  _ address: inout sockaddr_in, _ body: (UnsafeMutablePointer<sockaddr>, socklen_t) -> Int32
) -> Int32 {
  unsafe withUnsafeMutablePointer(to: &address) { pointer in
    unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      unsafe body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
    }
  }
}
