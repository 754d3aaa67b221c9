public import Foundation
public import Testing

/// One connection to an HTTP server, for requests of any form.
///
/// `receive` and `forEachEvent` block their thread.
public final class HTTPClient: Sendable {
  private let descriptor: Int32

  /// - Parameter receiveBuffer: The size of the receive buffer in bytes. The default is the system's.
  public init(
    _ port: UInt16, address: String = "127.0.0.1", receiveBuffer: Int32? = nil
  ) throws {
    descriptor = try streamSocket()
    if var receiveBuffer {
      unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &receiveBuffer, 4)
    }
    var server = loopbackAddress(port)
    unsafe inet_pton(AF_INET, address, &server.sin_addr)
    if unsafe withAddress(&server, { unsafe connect(descriptor, $0, $1) }) != 0 {
      // `deinit` runs after this error, because all properties are initialized.
      throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
    }
  }

  deinit { close(descriptor) }

  /// Sends the text.
  public func send(_ text: String) { send(Data(text.utf8)) }

  /// Sends the data, or the part that the server accepts before it closes the connection.
  public func send(_ data: Data) {
    #if canImport(Darwin)
    let flags: Int32 = 0
    #else
    let flags = Int32(MSG_NOSIGNAL)
    #endif
    _ = unsafe data.withUnsafeBytes {
      unsafe Foundation.send(descriptor, $0.baseAddress, $0.count, flags)
    }
  }

  /// Closes both directions, which ends a pending `receive`.
  public func cancel() { shutdown(descriptor, Int32(SHUT_RDWR)) }

  /// Closes the direction to the server.
  public func finishSending() { shutdown(descriptor, Int32(SHUT_WR)) }

  /// Returns the next bytes, or `nil` at the end.
  public func receive() -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: 1 << 16)
    let count = unsafe bytes.withUnsafeMutableBytes {
      unsafe recv(descriptor, $0.baseAddress, $0.count, 0)
    }
    return count > 0 ? Array(bytes.prefix(count)) : nil
  }

  /// Returns all bytes until the end of the connection.
  ///
  /// Records an issue at the call if the server does not close it.
  public func response(
    patience: Int = patience, sourceLocation: SourceLocation = #_sourceLocation
  ) async -> String {
    let received = Shared<(bytes: [UInt8], isOver: Bool)>(([], false))
    onNewThread { [self] in
      while let more = receive() { received.change { $0.bytes += more } }
      received.change { $0.isOver = true }
    }
    await until(patience: patience, sourceLocation: sourceLocation) { received.value.isOver }
    return String(decoding: received.value.bytes, as: UTF8.self)
  }

  /// Requests a stream of server-sent events, and calls `body` with the lines of each event.
  public func forEachEvent(at path: String = "/events", _ body: ([String]) -> Void) {
    send("GET \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n")
    var rest = Data()
    while let more = receive() {
      rest += more
      while let end = rest.range(of: Data("\n\n".utf8)) {
        let event = String(decoding: rest[..<end.lowerBound], as: UTF8.self)
        rest.removeSubrange(..<end.upperBound)
        body(event.components(separatedBy: "\n"))
      }
    }
  }
}

/// Sends one request, and returns the response.
public func response(
  from port: UInt16, to request: String, sourceLocation: SourceLocation = #_sourceLocation
) async throws -> String {
  let client = try HTTPClient(port)
  client.send(request)
  return await client.response(sourceLocation: sourceLocation)
}

/// Starts a thread with the body.
public func onNewThread(_ body: @escaping @Sendable () -> Void) {
  Thread(block: body).start()
}
