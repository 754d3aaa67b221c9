public import Foundation

/// One request and its response, used by the thread of its connection.
public final class LoopbackConnection: Sendable {
  /// The method of the request.
  public let method: String
  /// The path and query of the request.
  public let path: String
  /// The header values by lowercase name.
  public let headers: [String: String]
  private let descriptor: Int32
  private let bodyStart: Data

  /// Returns `nil` if the connection ends before a request.
  init?(_ descriptor: Int32) {
    self.descriptor = descriptor
    #if canImport(Darwin)
    var one: Int32 = 1
    unsafe setsockopt(
      descriptor, SOL_SOCKET, SO_NOSIGPIPE, &one, socklen_t(MemoryLayout<Int32>.size))
    #endif
    var received = Data()
    let blank = Data("\r\n\r\n".utf8)
    while received.range(of: blank) == nil {
      guard let more = receive(from: descriptor) else { return nil }
      received += more
    }
    guard let end = received.range(of: blank) else { return nil }
    bodyStart = received[end.upperBound...]
    let lines = String(decoding: received[..<end.lowerBound], as: UTF8.self)
      .components(separatedBy: "\r\n")
    let words = lines[0].components(separatedBy: " ")
    method = words[0]
    path = words.count > 1 ? words[1] : ""
    var headers: [String: String] = [:]
    for line in lines.dropFirst() {
      let parts = line.split(separator: ":", maxSplits: 1)
      if parts.count == 2 {
        headers[parts[0].lowercased()] = parts[1].trimmingCharacters(in: .whitespaces)
      }
    }
    self.headers = headers
  }

  /// Reads the body with the length in the headers.
  public func body() -> Data {
    if headers["expect"] != nil { send("HTTP/1.1 100 Continue\r\n\r\n") }
    let length = headers["content-length"].flatMap(Int.init) ?? 0
    var body = bodyStart
    while body.count < length, let more = receive(from: descriptor) { body += more }
    return body
  }

  /// Sends the text, and returns `false` if the client closed the connection.
  @discardableResult
  public func send(_ text: String) -> Bool { send(Data(text.utf8)) }

  /// Returns `false` if the client closed the connection.
  @discardableResult
  public func send(_ data: Data) -> Bool {
    #if canImport(Darwin)
    let flags: Int32 = 0
    #else
    let flags = Int32(MSG_NOSIGNAL)
    #endif
    var rest = data[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes {
        unsafe Foundation.send(descriptor, $0.baseAddress, $0.count, flags)
      }
      if count <= 0 { return false }
      rest = rest.dropFirst(count)
    }
    return true
  }

  /// Returns `false` if the client reads nothing until the limit.
  public func send(_ data: Data, within limit: Duration) -> Bool {
    let (seconds, attoseconds) = limit.components
    var time = timeval()
    time.tv_sec = numericCast(seconds)
    time.tv_usec = numericCast(attoseconds / 1_000_000_000_000)
    unsafe setsockopt(
      descriptor, SOL_SOCKET, SO_SNDTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
    return send(data)
  }

  /// Sends a status and headers.
  @discardableResult
  public func head(_ status: String = "200 OK", _ headers: String...) -> Bool {
    let lines = ["HTTP/1.1 \(status)"] + headers + ["Connection: close"]
    return send(lines.joined(separator: "\r\n") + "\r\n\r\n")
  }

  /// Sends a complete response.
  public func answer(_ status: String = "200 OK", _ headers: String..., body: Data) {
    let lines =
      ["HTTP/1.1 \(status)"] + headers + ["Content-Length: \(body.count)", "Connection: close"]
    send(lines.joined(separator: "\r\n") + "\r\n\r\n")
    send(body)
  }

  /// Sends one chunk of a chunked body.
  public func sendChunk(_ data: Data) {
    send("\(String(data.count, radix: 16))\r\n")
    send(data)
    send("\r\n")
  }

  /// Makes closing the connection discard the unread data of both sides.
  public func reset() {
    var linger = linger(l_onoff: 1, l_linger: 0)
    unsafe setsockopt(
      descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<linger>.size))
  }

  /// Returns after the client closes its side.
  public func waitForEnd() {
    while receive(from: descriptor) != nil {}
  }
}

/// Returns `nil` at the end.
private func receive(from descriptor: Int32) -> Data? {
  var buffer = [UInt8](repeating: 0, count: 65_536)
  let count = unsafe buffer.withUnsafeMutableBytes {
    unsafe recv(descriptor, $0.baseAddress, $0.count, 0)
  }
  return count > 0 ? Data(buffer[..<count]) : nil
}
