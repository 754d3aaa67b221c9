internal import CNATS

/// What is to be sent, with bytes that are there for as long as the call runs.
struct Outgoing {
  let subject: String
  var replySubject: String?
  var headers: NATSHeaders
  let bytes: UnsafeRawBufferPointer

  /// About as much as it takes on the way.
  var size: Int {
    var size = bytes.count + subject.utf8.count + (replySubject?.utf8.count ?? 0) + 32
    for field in headers.fields { size += field.name.utf8.count + field.value.utf8.count + 4 }
    return size
  }

  /// The subject is passed by `withCString`: without it there would be a copy of it in an array.
  func append(to connection: OpaquePointer) -> natsStatus {
    subject.withCString { subject in
      guard let replySubject else { return append(to: connection, subject, nil) }
      return replySubject.withCString { append(to: connection, subject, $0) }
    }
  }

  private func append(
    to connection: OpaquePointer, _ subject: UnsafePointer<CChar>,
    _ replySubject: UnsafePointer<CChar>?
  ) -> natsStatus {
    let length = Int32(clamping: bytes.count)
    if headers.isEmpty {
      guard let replySubject else {
        return natsConnection_Publish(connection, subject, bytes.baseAddress, length)
      }
      return natsConnection_PublishRequest(
        connection, subject, replySubject, bytes.baseAddress, length)
    }
    var message: OpaquePointer?
    let data = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
    let status = natsMsg_Create(&message, subject, replySubject, data, length)
    guard status == NATS_OK, let message else { return status }
    defer { natsMsg_Destroy(message) }
    for field in headers.fields {
      let status = natsMsgHeader_Add(message, field.name, field.value)
      if status != NATS_OK { return status }
    }
    return natsConnection_PublishMsg(connection, message)
  }
}

/// A copy of what is to be sent, to be kept until there is a connection.
struct Kept: Sendable {
  let subject: String
  let replySubject: String?
  let headers: NATSHeaders
  let bytes: [UInt8]
  let size: Int

  init(_ message: Outgoing) {
    subject = message.subject
    replySubject = message.replySubject
    headers = message.headers
    bytes = Array(message.bytes)
    size = message.size
  }

  func send(over handle: Handle, sendLimit: Int) throws(NATSError) {
    let result: Result<Void, NATSError> = bytes.withUnsafeBytes { bytes in
      do throws(NATSError) {
        return .success(
          try handle.publish(
            Outgoing(
              subject: subject, replySubject: replySubject, headers: headers, bytes: bytes),
            sendLimit: sendLimit, atOnce: false))
      } catch {
        return .failure(error)
      }
    }
    try result.get()
  }
}
