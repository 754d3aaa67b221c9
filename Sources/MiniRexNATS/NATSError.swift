#if NATS
/// A failure of an operation over NATS.
///
/// Texts of the server and of libnats are included, credentials are not.
public enum NATSError: Error, Hashable, Sendable {
  /// The connection was closed, by you or permanently after an error.
  case closed
  /// No connection was available, or it was lost before the answer arrived.
  case disconnected
  /// No server was reached within ``NATSOptions/reconnectAttempts``.
  case noServer
  /// The server rejected the credentials.
  case notAuthorized
  /// The TLS handshake failed: a certificate is missing, wrong, or expired.
  case tls(String)
  /// The server did not permit the operation.
  case notPermitted(String)
  /// The timeout passed.
  case timedOut
  /// No process answered requests on this subject.
  case noResponders
  /// The messages queued for the server reached ``NATSOptions/sendLimit``.
  case sendLimitReached
  /// The payload was larger than the server accepts.
  case payloadTooLarge(Int)
  /// A subject, a queue group, or a name was empty, or had an empty part, a space, or an invalid
  /// wildcard.
  case invalidSubject(String)
  /// A subject with its reply subject or queue group had this many bytes, more than
  /// ``NATSOptions/lineLimit`` allows.
  case subjectTooLong(Int)
  /// The server refused more than this number of subscriptions over one connection.
  case tooManySubscriptions(Int)
  /// A header had an empty name or value, or one with a line break.
  case invalidHeader(String)
  /// The value could not be encoded.
  case notEncodable(String)
  /// The payload could not be decoded as the requested type.
  case undecodable(String)
  /// The answering process failed or refused, with a code and a message.
  case refused(code: Int, message: String)
  /// The key or the stream had another revision, which is the associated value if it is known.
  case revision(UInt64?)
  /// The stream or the bucket did not exist, or the server has no JetStream.
  case noStream(String)
  /// JetStream refused, with one of its error codes and a message.
  ///
  /// A code of 10008, 10009, 10118, 10163, or 10167 is temporary: the cluster elects a leader, or has too much to do.
  case jetStream(code: Int, message: String)
  /// The server was older than the version that the operation needs.
  case unsupported(needs: String)
  /// The options or a URL were invalid, or a file of the options could not be read.
  case invalidOptions(String)
  /// Another error, with the code and the message of libnats.
  case other(code: Int, message: String)
}
#endif
