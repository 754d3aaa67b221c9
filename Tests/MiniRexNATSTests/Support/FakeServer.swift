#if NATS
import Foundation
import TestSupport

/// A test server that sends given text, and records the bytes that it receives.
final class FakeServer: Sendable {
  let address: Address
  private let socket: Socket
  private let bytes = Shared<[UInt8]>([])
  private let clients = Shared<[Socket]>([])
  private let greeting: String
  private let answer: String
  /// The connections that wait to be accepted, if it does not accept.
  private let pending: [Socket]

  /// - Parameter announcement: The body of `INFO`. An empty text announces nothing.
  convenience init(_ announcement: String) throws {
    try self.init(greeting: announcement.isEmpty ? "" : "INFO \(announcement)\r\n")
  }

  /// - Parameters:
  ///   - greeting: The text that each client receives first.
  ///   - answer: The text that follows the first bytes of the client.
  ///   - accepts: A Boolean value that indicates whether connections are accepted.
  init(greeting: String = "", answer: String = "", accepts: Bool = true) throws {
    (socket, address) = try Socket.listening(backlog: accepts ? 16 : 0)
    (self.greeting, self.answer) = (greeting, answer)
    pending = accepts ? [] : try [Socket.connected(to: address)]
    if !accepts { return }
    socket.acceptAll { [weak self] in self?.serve($0) }
  }

  deinit {
    shutdown(socket.descriptor, Int32(SHUT_RDWR))
    for client in clients.value { shutdown(client.descriptor, Int32(SHUT_RDWR)) }
  }

  var connectionCount: Int { clients.value.count }

  var received: String { String(decoding: bytes.value, as: UTF8.self) }

  var receivedCount: Int { bytes.value.count }

  private func serve(_ client: Socket) {
    clients.append(client)
    client.send(greeting)
    let (bytes, answer) = (bytes, answer)
    Thread.detachNewThread {
      var isFirst = true
      while let chunk = client.receive() {
        bytes.change { $0 += chunk }
        if isFirst { client.send(answer) }
        isFirst = false
      }
    }
  }
}

/// A client that sends arbitrary bytes.
final class RawClient: Sendable {
  private let socket: Socket

  init(to address: Address) throws {
    socket = try Socket.connected(to: address)
    socket.send(#"CONNECT {"verbose":false,"headers":true,"protocol":1}"# + "\r\n")
  }

  func publish(_ payload: String, on subject: String, headers: String) {
    publish(payload, on: subject, headers: Array(headers.utf8))
  }

  func publish(_ payload: String, on subject: String, headers: [UInt8]) {
    let (count, total) = (headers.count, headers.count + payload.utf8.count)
    socket.send(
      Array("HPUB \(subject) \(count) \(total)\r\n".utf8) + headers + payload.utf8 + [13, 10])
  }
}

extension Socket {
  func send(_ text: String) { send(Array(text.utf8)) }

  func send(_ bytes: [UInt8]) {
    var sent = 0
    while sent < bytes.count {
      let more = unsafe bytes[sent...].withUnsafeBytes {
        unsafe Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      if more <= 0 { return }
      sent += more
    }
  }

  /// Returns `nil` at the end.
  func receive() -> [UInt8]? {
    var buffer = [UInt8](repeating: 0, count: 4_096)
    let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
    return count > 0 ? Array(buffer[..<count]) : nil
  }
}
#endif
