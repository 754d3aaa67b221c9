import Foundation

/// Parses a request from the bytes of a connection, in pieces of any size.
///
/// The time is linear in the number of bytes for every input. The result does not depend on the
/// division into pieces.
package struct RequestParser: Sendable {
  private let limits: Limits
  private let hosts: Hosts
  private let token: String?
  private var bytes: [UInt8] = []
  /// The number of bytes that the parser has read.
  private var seen = 0
  private var lineStart = 0
  /// The request without its body.
  ///
  /// Headers are added until the head ends.
  private var request: Request?
  private var bodyRange: Range<Int>?

  package init(_ limits: Limits) { self.init(limits, .thisMachine, token: nil) }

  init(_ limits: Limits, _ hosts: Hosts, token: String?) {
    self.limits = limits
    self.hosts = hosts
    self.token = token
  }

  /// A Boolean value that indicates whether any byte has arrived.
  var hasBegun: Bool { !bytes.isEmpty }

  package mutating func take(_ more: [UInt8]) -> Result<Request, Status>? {
    bytes += more
    do throws(Status) {
      while bodyRange == nil, seen < bytes.count { try look() }
    } catch {
      return .failure(error)
    }
    guard var request, let bodyRange, bytes.count >= bodyRange.upperBound else { return nil }
    request.body = Data(bytes[bodyRange])
    return .success(request)
  }

  /// Reads the next byte of the head.
  private mutating func look() throws(Status) {
    if seen == limits.head { throw .headTooLarge }
    let byte = bytes[seen]
    let followsReturn = seen > lineStart && bytes[seen - 1] == UInt8(ascii: "\r")
    switch byte {
    // A client of another protocol may wait for a response before it sends a line end.
    case _ where seen == 0 && !byte.isUppercase: throw .badRequest
    case UInt8(ascii: "\n") where followsReturn: try endLine(bytes[lineStart..<seen - 1])
    case _ where followsReturn: throw .badRequest
    case UInt8(ascii: "\r"), UInt8(ascii: "\t"): break
    case 0..<0x20, 0x7F: throw .badRequest
    default: break
    }
    seen += 1
  }

  private mutating func endLine(_ line: ArraySlice<UInt8>) throws(Status) {
    lineStart = seen + 1
    guard request != nil else {
      let request = try Request(line: line)
      if let token, !request.knows(token) { throw .tokenRequired }
      self.request = request
      return
    }
    if !line.isEmpty {
      try request?.add(line: line)
    } else if let request {
      try request.requireHost()
      try request.refuseStrangers(hosts)
      let length = try request.bodyLength(limits)
      bodyRange = lineStart..<lineStart + length
    }
  }
}

extension Request {
  /// Returns whether the query contains the token.
  ///
  /// The time does not depend on the position of the first wrong byte.
  fileprivate func knows(_ token: String) -> Bool {
    let parameters = Array((query ?? "").utf8)[...].split(separator: UInt8(ascii: "&"))
    let given = parameters.first { $0.starts(with: "token=".utf8) }?.dropFirst(6).withoutPercents
    guard let given, given.count == token.utf8.count else { return false }
    return zip(given, token.utf8).reduce(0 as UInt8) { $0 | ($1.0 ^ $1.1) } == 0
  }
}
