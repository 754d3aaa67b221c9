#if NATS
internal import CNATS

/// A message to send, with bytes that are valid during the call.
struct OutgoingMessage {
  let subject: String
  var replySubject: String?
  var headers: NATSHeaders
  let bytes: UnsafeRawBufferPointer
  /// A Boolean value that indicates whether the message is reported if the connection is lost
  /// before the server has confirmed it.
  var isConfirmed = false

  /// The approximate size of the message on the wire.
  var size: Int {
    var size = bytes.count + subject.utf8.count + (replySubject?.utf8.count ?? 0) + 32
    for field in headers.fields { size += field.name.utf8.count + field.value.utf8.count + 4 }
    return size
  }

  /// Appends the message to the buffer of libnats.
  ///
  /// `withCString` passes the subject without a copy.
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
    defer { MessageRecycler.add(message) }
    let added = addHeaders(to: message)
    return added == NATS_OK ? natsConnection_PublishMsg(connection, message) : added
  }
}

extension OutgoingMessage {
  /// Adds all lines as one header, whose name contains all lines but the last.
  ///
  /// libnats 3.4 looks headers up by a hash and confuses some names. It writes a name unchanged,
  /// and `ProtocolText` has checked the lines. The lines also keep their order.
  private func addHeaders(to message: OpaquePointer) -> natsStatus {
    guard let last = headers.fields.last else { return NATS_OK }
    let before = headers.fields.dropLast().map { "\($0.name): \($0.value)\r\n" }.joined()
    return natsMsgHeader_Add(message, before + last.name, last.value)
  }
}

/// A copy of a message, queued until a connection exists.
struct QueuedMessage: Sendable {
  let subject: String
  let replySubject: String?
  let headers: NATSHeaders
  let bytes: [UInt8]
  let size: Int
  let isConfirmed: Bool

  init(_ message: OutgoingMessage) {
    subject = message.subject
    replySubject = message.replySubject
    headers = message.headers
    bytes = Array(message.bytes)
    size = message.size
    isConfirmed = message.isConfirmed
  }

  func send(over handle: LibNATSConnection, sendLimit: Int) throws(NATSError) {
    let result: Result<Void, NATSError> = bytes.withUnsafeBytes { bytes in
      do throws(NATSError) {
        return .success(
          try handle.publish(
            OutgoingMessage(
              subject: subject, replySubject: replySubject, headers: headers, bytes: bytes,
              isConfirmed: isConfirmed),
            sendLimit: sendLimit, atOnce: false))
      } catch {
        return .failure(error)
      }
    }
    try result.get()
  }
}
#endif
