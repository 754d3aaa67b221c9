import Foundation
import MiniRex

/// Takes the bytes of a connection until they are a request, or can never be one.
struct RequestParser: Sendable {
  let limits: Limits
  let hosts: Hosts
  private(set) var bytes = Data()
  private var head: (request: Request, length: Int)?
  private var searched = 0

  init(_ limits: Limits, _ hosts: Hosts = .thisMachine) {
    self.limits = limits
    self.hosts = hosts
  }

  mutating func take(_ more: Data) -> Result<Request, Status>? {
    bytes += more
    do throws(Status) {
      if head == nil { head = try readHead() }
    } catch {
      return .failure(error)
    }
    guard var request = head?.request, let length = head?.length, bytes.count >= length
    else { return nil }
    request.body = bytes.prefix(length)
    return .success(request)
  }

  private mutating func readHead() throws(Status) -> (Request, Int)? {
    // What speaks another protocol may wait for an answer before it says more.
    if let first = bytes.first, !(0x41...0x5A).contains(first) { throw .badRequest }
    let end = bytes.range(of: Data("\r\n\r\n".utf8), in: Swift.max(0, searched - 3)..<bytes.count)
    searched = bytes.count
    if (end?.lowerBound ?? bytes.count) > limits.head { throw .headTooLarge }
    guard let end else { return nil }
    let request = try Request(head: bytes[..<end.lowerBound], hosts)
    bytes = Data(bytes[end.upperBound...])
    return (request, try request.bodyLength(limits))
  }
}

/// The parser of a connection.
final class RequestReader: Sendable {
  private let parser: Lock<RequestParser>

  init(_ limits: Limits, _ hosts: Hosts) { parser = Lock(RequestParser(limits, hosts)) }

  func take(_ bytes: Data) -> Result<Request, Status>? { parser.withLock { $0.take(bytes) } }

  /// False for a connection that was opened because it may be needed later.
  var hasBegun: Bool { parser.withLock { !$0.bytes.isEmpty } }
}
