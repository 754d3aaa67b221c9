#if NATS
internal import CNATS

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// A message of libnats, valid during the callback.
struct RawMessage {
  let pointer: OpaquePointer

  var subject: String { String(cString: natsMsg_GetSubject(pointer)) }

  var replySubject: String? { natsMsg_GetReply(pointer).map { String(cString: $0) } }

  var bytes: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(
      start: natsMsg_GetData(pointer), count: Int(natsMsg_GetDataLength(pointer)))
  }

  /// The header bytes as received, or empty.
  ///
  /// libnats has no function for them. It stores a message in one block: the subject, the optional
  /// reply subject, the optional headers, and the payload, each followed by a zero byte.
  private var headerBytes: UnsafeRawBufferPointer {
    guard let last = natsMsg_GetReply(pointer) ?? natsMsg_GetSubject(pointer),
      let data = natsMsg_GetData(pointer)
    else { return UnsafeRawBufferPointer(start: nil, count: 0) }
    let start = last + strlen(last) + 1
    return UnsafeRawBufferPointer(start: start, count: max(0, data - start - 1))
  }

  private var headerBlock: HeaderBlock { HeaderBlock(headerBytes) }

  /// A Boolean value that indicates whether the server reports that no process answers.
  var saysNoResponders: Bool {
    natsMsg_GetDataLength(pointer) == 0 && headerBlock.status == "503"
  }

  /// Returns the headers that can be read.
  ///
  /// A line that is not a header is reported, and the message is kept.
  func headers(over core: ConnectionCore) -> NATSHeaders {
    let block = headerBlock
    if let problem = block.problem {
      core.report(.unreadableHeaders(subject: subject, reason: problem))
    }
    return block.headers
  }

  /// A Boolean value that indicates whether a message of a bucket records an absence.
  ///
  /// A client writes the operation, and a server since 2.11 may write a marker for an expired value.
  var isDeletion: Bool {
    let headers = headerBlock.headers
    return headers["KV-Operation"] != nil || headers["Nats-Marker-Reason"] != nil
  }

  /// The milliseconds from the time of the message to its expiration, or `nil` without one.
  ///
  /// A watcher of another client's values finds no expiration in units other than seconds.
  var expiration: Int64? { header("Nats-TTL").flatMap { Self.milliseconds(of: $0) } }

  static func milliseconds(of expiration: String) -> Int64? {
    guard let seconds = Int64(expiration.hasSuffix("s") ? expiration.dropLast() : expiration[...]),
      seconds > 0
    else { return nil }
    let (milliseconds, overflows) = seconds.multipliedReportingOverflow(by: 1_000)
    return overflows ? .max : milliseconds
  }

  /// The headers that can be read.
  var headers: NATSHeaders { headerBlock.headers }

  /// Returns the first value of a header.
  func header(_ name: String) -> String? { headerBlock.headers[name] }
}
#endif
