package import Foundation

/// A connection of a program that does what it likes; its calls wait, each on a thread of its own.
package final class Browser: Sendable {
  private let descriptor: Int32

  /// - Parameter room: How much the system keeps of what is not read.
  package init(_ port: UInt16, room: Int32? = nil) throws {
    descriptor = socket(AF_INET, 1, 0)
    if var room { unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &room, 4) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let result = unsafe withUnsafeBytes(of: &address) { bytes in
      unsafe connect(
        descriptor, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self),
        socklen_t(bytes.count))
    }
    if result != 0 { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
  }

  deinit { close(descriptor) }

  /// Says it, as far as somebody listens.
  package func say(_ text: String) { say(Data(text.utf8)) }

  package func say(_ data: Data) {
    _ = unsafe data.withUnsafeBytes {
      unsafe send(descriptor, $0.baseAddress, $0.count, 0x4000)
    }
  }

  /// Ends it on both sides, also for a thread that listens.
  package func leave() { shutdown(descriptor, Int32(SHUT_RDWR)) }

  package func stopSaying() { shutdown(descriptor, Int32(SHUT_WR)) }

  /// All that comes until the connection ends.
  package func listen() async -> String {
    await withCheckedContinuation { continuation in
      onNewThread { [self] in
        var heard: [UInt8] = []
        while let more = hear() { heard += more }
        continuation.resume(returning: String(decoding: heard, as: UTF8.self))
      }
    }
  }

  /// What comes next; `nil` after the end.
  package func hear() -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: 1 << 16)
    let count = unsafe bytes.withUnsafeMutableBytes {
      unsafe recv(descriptor, $0.baseAddress, $0.count, 0)
    }
    return count > 0 ? Array(bytes.prefix(count)) : nil
  }
}

package func onNewThread(_ body: @escaping @Sendable () -> Void) {
  Thread(block: body).start()
}
