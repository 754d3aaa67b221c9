/// Why something could not be done over NATS.
///
/// It holds no secret: what a server or libnats says in words is told, what you gave to log in with
/// is not.
public enum NATSError: Error, Hashable, Sendable {
  /// The connection has been closed, by you or for good.
  case closed
  /// There is no connection now, or it was lost before the answer came.
  case disconnected
  /// No server could be reached in the attempts that were asked for.
  case noServer
  /// The server does not let in whoever has these credentials.
  case notAuthorized
  /// There is no trust between this side and the server: a certificate is missing, wrong or expired.
  case tls(String)
  /// The server does not allow this.
  case notPermitted(String)
  /// The time is up.
  case timedOut
  /// Nobody answers requests on this subject.
  case noResponders
  /// What waits to be sent has reached ``NATSOptions/sendLimit``.
  case sendLimitReached
  /// The server takes no payload as large as this one.
  case payloadTooLarge(Int)
  /// A subject is empty, has an empty part, a space or a wildcard where none may be; or a queue
  /// group or a name has.
  case invalidSubject(String)
  /// A header has a name or a value that would end it.
  case invalidHeader(String)
  /// A value could not be encoded.
  case notEncodable(String)
  /// A payload was not that of such a value.
  case undecodable(String)
  /// Whoever answers has refused, with a code and a text of its own.
  case refused(code: Int, message: String)
  /// Somebody else was first: the key, or the stream, is at this revision now, if that is known.
  case revision(UInt64?)
  /// A stream or a bucket of that name does not exist, or the server keeps none.
  case noStream(String)
  /// JetStream has refused, in its own words, with the code that it lists.
  case jetStream(code: Int, message: String)
  /// The options do not fit: a file is missing or is not what it should be.
  case invalidOptions(String)
  /// Anything else, in the words of libnats.
  case other(code: Int, message: String)
}
