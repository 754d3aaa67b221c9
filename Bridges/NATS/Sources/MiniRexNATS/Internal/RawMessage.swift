internal import CNATS

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// A message of libnats, which is there for as long as the callback runs.
struct RawMessage {
  let pointer: OpaquePointer

  var subject: String { String(cString: natsMsg_GetSubject(pointer)) }

  var replySubject: String? { natsMsg_GetReply(pointer).map { String(cString: $0) } }

  var bytes: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(
      start: natsMsg_GetData(pointer), count: Int(natsMsg_GetDataLength(pointer)))
  }

  /// True if the server says so instead of an answer.
  var saysNoResponders: Bool { natsMsg_IsNoResponders(pointer) }

  /// Throws if they are not headers at all.
  func headers() throws(NATSError) -> NATSHeaders {
    var names: UnsafeMutablePointer<UnsafePointer<CChar>?>?
    var count: Int32 = 0
    let status = natsMsgHeader_Keys(pointer, &names, &count)
    if status == NATS_NOT_FOUND { return NATSHeaders() }
    guard status == NATS_OK, let names else { throw .undecodable("It has no proper headers.") }
    defer { free(names) }
    var headers = NATSHeaders()
    for index in 0..<Int(count) {
      guard let name = names[index] else { continue }
      var values: UnsafeMutablePointer<UnsafePointer<CChar>?>?
      var valueCount: Int32 = 0
      guard natsMsgHeader_Values(pointer, name, &values, &valueCount) == NATS_OK, let values else {
        continue
      }
      defer { free(values) }
      for place in 0..<Int(valueCount) {
        headers.fields.append(
          NATSHeaders.Field(
            name: String(cString: name), value: values[place].map { String(cString: $0) } ?? ""))
      }
    }
    return headers
  }

  /// The first value of a header, without reading the others.
  func header(_ name: String) -> String? {
    var value: UnsafePointer<CChar>?
    return natsMsgHeader_Get(pointer, name, &value) == NATS_OK
      ? value.map { String(cString: $0) } : nil
  }
}
