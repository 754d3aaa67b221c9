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

  /// Returns the first value of a header.
  func header(_ name: String) -> String? { headerBlock.headers[name] }
}
