import Foundation
import MiniRex
import MiniRexFoundationAdapters

/// An event of a listening socket.
enum Arrival: Sendable {
  case listening(host: String, port: UInt16)
  case connected(Connection)
  case failed(POSIXError)
}

/// Listens while a subscription exists.
func arrivals(at host: String, _ port: UInt16) -> Broadcaster<Arrival> {
  Broadcaster { receive in
    guard var address = address(host, port) else {
      receive(.failed(POSIXError(.EINVAL)))
      return .ended
    }
    // 1 is SOCK_STREAM, whose type differs between platforms.
    let descriptor = socket(AF_INET, 1, 0)
    var (yes, size) = (Int32(1), socklen_t(MemoryLayout<sockaddr_in>.size))
    unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, 4)
    let isListening = unsafe withSocketAddress(&address) { address in
      unsafe bind(descriptor, address, size) == 0 && listen(descriptor, SOMAXCONN) == 0
        && getsockname(descriptor, address, &size) == 0
    }
    guard isListening else {
      receive(.failed(.last))
      close(descriptor)
      return .ended
    }
    receive(.listening(host: host, port: UInt16(bigEndian: address.sin_port)))
    // A source may be canceled on any thread, but its type is not Sendable.
    nonisolated(unsafe) let source = DispatchSource.makeReadSource(fileDescriptor: descriptor)
    unsafe source.setEventHandler {
      let connection = accept(descriptor, nil, nil)
      if connection >= 0 { receive(.connected(Connection(connection))) }
    }
    unsafe source.setCancelHandler { close(descriptor) }
    unsafe source.activate()
    return Subscription {
      // Free the port now, instead of when the cancel handler runs.
      shutdown(descriptor, Int32(SHUT_RDWR))
      unsafe source.cancel()
    }
  }
}

/// A connected socket that reads and writes lines.
final class Connection: Sendable {
  private let channel: DispatchIO

  init(_ descriptor: Int32) {
    signal(SIGPIPE, SIG_IGN)  // Without this, writing to a closed socket ends the process.
    channel = DispatchIO(type: .stream, fileDescriptor: descriptor, queue: .global()) { _ in
      Foundation.close(descriptor)
    }
  }

  /// Connects to a listening socket.
  convenience init(to host: String, _ port: UInt16) throws(POSIXError) {
    guard var address = address(host, port) else { throw POSIXError(.EINVAL) }
    let descriptor = socket(AF_INET, 1, 0)
    let isConnected = unsafe withSocketAddress(&address) {
      unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
    }
    if !isConnected {
      let error = POSIXError.last
      Foundation.close(descriptor)
      throw error
    }
    self.init(descriptor)
  }

  deinit { close() }

  /// Emits the lines of the peer until it disconnects.
  ///
  /// A line ends with `"\n"` or `"\r\n"`. A longer line than 10,000 bytes may lose its beginning.
  var lines: Broadcaster<String> {
    DispatchSource.reads(from: channel.fileDescriptor)
      .scan((lines: [String](), rest: Data())) { state, piece in
        var parts = (state.rest + ((try? piece.get()) ?? Data()))
          .split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        let last = parts.removeLast()
        let rest = Data(last.count > 10_000 ? last.suffix(10_000).drop(while: isInside) : last)
        return (parts.map(text), rest)
      }
      .flatMap(limit: 1) { .sequence($0.lines) }
  }

  /// Succeeds with 0, or with an error number.
  ///
  /// A slow peer blocks no thread.
  func send(_ line: String) -> PublishedTask<Int32, Never> {
    PublishedTask { [channel] finish in
      let bytes = unsafe Data("\(line)\n".utf8).withUnsafeBytes { unsafe DispatchData(bytes: $0) }
      channel.write(offset: 0, data: bytes, queue: .global()) { isDone, _, error in
        if isDone { finish(.success(error)) }
      }
      return .ended
    }
  }

  /// Closes the connection, even for threads that read from it.
  func close() {
    shutdown(channel.fileDescriptor, Int32(SHUT_RDWR))
    channel.close(flags: .stop)
  }
}

/// Returns `true` for a byte of a character except the first.
private func isInside(_ byte: UInt8) -> Bool { byte & 0xC0 == 0x80 }

private func text(of line: Data) -> String {
  String(decoding: line.last == UInt8(ascii: "\r") ? line.dropLast() : line, as: UTF8.self)
}

/// Returns `nil` if the host is not an IPv4 address in numbers.
private func address(_ host: String, _ port: UInt16) -> sockaddr_in? {
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_port = port.bigEndian
  // A zero byte would hide the rest of the host from the system.
  let isValid = !host.utf8.contains(0)
  return unsafe isValid && inet_pton(AF_INET, host, &address.sin_addr) == 1 ? address : nil
}

private func withSocketAddress(
  _ address: inout sockaddr_in, _ body: (UnsafeMutablePointer<sockaddr>) -> Bool
) -> Bool {
  unsafe withUnsafeMutablePointer(to: &address) {
    unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe body($0) }
  }
}

extension POSIXError {
  fileprivate static var last: POSIXError { POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
}
